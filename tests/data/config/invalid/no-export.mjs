const config = { contentDir: 'content' };
