/* eslint-disable import/no-default-export, @typescript-eslint/naming-convention */
/// <reference types="vite/client" />
// prettier-ignore
export default ({
  'contentDir' : "content"
, "title" : 'leading commas'
, sources : [ { dir : '../a' } , { dir : '../b' } ]
})
