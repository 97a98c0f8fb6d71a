export default class Config { contentDir = 'content' }
