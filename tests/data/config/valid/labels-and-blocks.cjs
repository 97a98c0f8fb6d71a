outer: for (const x of [1]) { for (;;) { break outer } }
switch (1) { case 1: { break } default: }
try { void 0 } catch { } finally { }
do { } while (false)
{ const contentDir = 'inner' }
module.exports = { contentDir: 'content' }
