module.exports = {
  // generated from package.json
  "contentDir": "content",
  "sources": [
    { "dir": "../a", "project": "a" }, /* local */
  ],
  "statuses": { "accepted": { "current": true, "label": null } },
  "n": -1.5e-3,
}
