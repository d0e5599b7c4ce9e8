import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { docsRenderer, withoutRemotes } from '../../../scripts/lib/docs-renderer/docs-renderer.mjs'
import { root } from '../../../scripts/lib/root.mjs'

const LOGO =
  'n.createElement("img",{alt:"redocly logo",onError:()=>t(!1),src:"https://cdn.redoc.ly/redoc/logo-mini.svg"})'
const MAP = '\n//# sourceMappingURL=redoc.standalone.js.map'

test('takes out the picture of another server and the source map', () => {
  expect(withoutRemotes(`e?${LOGO}:null;${MAP}`)).toBe('e?null:null;\n')
})

test.each([
  ['without the picture', MAP],
  ['with the picture twice', `${LOGO}${LOGO}${MAP}`],
  ['without the source map', LOGO],
])('refuses a renderer %s, so that an upgrade is noticed', (_, script) => {
  expect(() => withoutRemotes(script)).toThrow(/^the documentation renderer has [02] times, not once: /)
})

test('refuses a renderer that names the other server elsewhere', () => {
  expect(() => withoutRemotes(`${LOGO}"https://cdn.redoc.ly/x"${MAP}`)).toThrow(
    'the documentation renderer still names cdn.redoc.ly',
  )
})

test('the pinned renderer fits, starts itself and comes with its licences', () => {
  const { script, licences } = docsRenderer(root)
  expect(script).not.toContain('cdn.redoc.ly')
  expect(script.trimEnd()).toMatch(/\}\)\(\)$/)
  expect(script).toContain(readFileSync(`${root}scripts/lib/docs-renderer/bootstrap.js`, 'utf8'))
  expect(licences).toContain('The MIT License (MIT)')
  expect(licences).toContain('Copyright (c) 2018 Jed Watson')
})
