#!/usr/bin/env node
/* block */ 'use strict' // line
/**
 * @type {import('inkan').Config}
 * export default { contentDir: 'wrong' }
 */
module.exports = /* here */ { // there
  contentDir /* before colon */ : /* after */ 'content', // } not this
  // title: 'commented out',
  /* sources: [{ dir: 'x' }], */
  url: 'https://example.com', /**/
} // end
// module.exports = { contentDir: 'also wrong' }
