{ "contentDir": "content" }
