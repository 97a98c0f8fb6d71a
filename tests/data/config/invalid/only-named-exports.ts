export const contentDir = 'content'
export function build() { return { contentDir } }
