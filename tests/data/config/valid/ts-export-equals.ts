export = { contentDir: 'content' }
