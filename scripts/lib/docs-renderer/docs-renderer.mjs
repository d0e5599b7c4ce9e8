import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * What the documentation page must not do, as the pinned renderer spells it: fetch a picture from somebody else's server
 * (the page's policy would refuse it), and name a source map that is not served.
 */
const REPLACED = [
  {
    from: 'n.createElement("img",{alt:"redocly logo",onError:()=>t(!1),src:"https://cdn.redoc.ly/redoc/logo-mini.svg"})',
    to: 'null',
  },
  { from: '\n//# sourceMappingURL=redoc.standalone.js.map', to: '\n' },
]

/** Addresses that nothing in the script may fetch from. */
const REMOTE = /cdn\.redoc\.ly/

/**
 * Takes out of the renderer what reaches beyond this server.
 *
 * @throws Error when a place is not there exactly once: another version of the renderer has to be looked at first.
 */
export function withoutRemotes(script) {
  const local = REPLACED.reduce((text, { from, to }) => {
    const count = text.split(from).length - 1
    if (count !== 1) throw new Error(`the documentation renderer has ${count} times, not once: ${from.trim()}`)
    return text.replace(from, () => to)
  }, script)
  const remote = REMOTE.exec(local)
  if (remote !== null) throw new Error(`the documentation renderer still names ${remote[0]}`)
  return local
}

/** The page's one script, and the licences of what is in it. */
export function docsRenderer(root) {
  const read = (path) => readFileSync(join(root, path), 'utf8')
  const redoc = withoutRemotes(read('node_modules/redoc/bundles/redoc.standalone.js'))
  return {
    script: `${redoc}\n${read('scripts/lib/docs-renderer/bootstrap.js')}`,
    licences: `${read('node_modules/redoc/LICENSE')}\n${read('node_modules/redoc/bundles/redoc.standalone.js.LICENSE.txt')}`,
  }
}
