import { expect, test } from 'vitest'
import { docsPage, PAGE_POLICY } from '../../../../../src/server/slices/meta/docs-page.ts'

test('the policy is the one that the specification prints', () => {
  expect(PAGE_POLICY).toBe(
    "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; worker-src 'self' blob:; img-src 'self' data:",
  )
})

test('no text of the contract ends its block, begins a comment or is read as a reference', () => {
  const page = docsPage({ a: '</script><!-- & \u2028\u2029' }, { root: '/v1', renderer: '/x.js' })
  expect(page).toContain(
    '<script type="application/json" id="contract">{"a":"\\u003c/script\\u003e\\u003c!-- \\u0026 \\u2028\\u2029"}</script>',
  )
})

test('what is in the block is the contract', () => {
  const contract = { text: '<b>"quoted" \\ & </script>', '<key>': ['\u2028', 'ß', 1, null] }
  const [, block = ''] =
    /id="contract">(.*?)<\/script>/.exec(docsPage(contract, { root: '/v1', renderer: '/x.js' })) ?? []
  expect(JSON.parse(block)).toEqual(contract)
})

test('the page names one script of this server, no other source, and says what to do without scripts', () => {
  const page = docsPage({}, { root: '/v1', renderer: '/v1/docs/assets/redoc.standalone.js' })
  expect(page.match(/src="[^"]*"/g)).toEqual(['src="/v1/docs/assets/redoc.standalone.js"'])
  expect(page.match(/href="[^"]*"/g)).toEqual(['href="data:,"'])
  expect(page).not.toMatch(/https?:\/\//)
  expect(page).toMatch(/<noscript>.*ctl openapi/s)
})
