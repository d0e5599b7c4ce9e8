import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { markup } from '../../../../src/shared/pages/markup.ts'
import { pageDocument } from '../../../../src/shared/pages/page-document.ts'

describe('markup', () => {
  test('escapes texts, in elements and in attributes', () => {
    expect(markup`<a title="${`"><script>'&`}">${'<b>'}</a>`.text).toBe(
      '<a title="&quot;&gt;&lt;script&gt;&#39;&amp;">&lt;b&gt;</a>',
    )
  })

  test('keeps markup, lists of it, numbers, and leaves out what is not there', () => {
    expect(markup`<ul>${[markup`<li>${1}</li>`, markup`<li>${2}</li>`]}</ul>${undefined}`.text).toBe(
      '<ul><li>1</li><li>2</li></ul>',
    )
  })
})

describe('the policy of a page', () => {
  const sha256 = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`
  const styleOf = (page: string) => /<style>([\s\S]*?)<\/style>/.exec(page)?.[1] ?? ''

  test('lets nothing run, and only its own style apply', () => {
    const { text, policy } = pageDocument({ title: 'A page', body: markup`<h1>A page</h1>` })
    expect(policy).toBe(
      `default-src 'none'; style-src ${sha256(styleOf(text))}; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
    )
  })

  test('names the one script by its hash, and lets it ask nobody', () => {
    const { text, policy } = pageDocument({ title: 'A page', body: markup``, script: 'go()' })
    expect(policy).toContain(`script-src ${sha256('go()')}; form-action`)
    expect(policy).not.toContain('connect-src')
    expect(text).toContain('<script>go()</script>')
  })

  test('lets a script that makes requests ask this server alone', () => {
    const { policy } = pageDocument({ title: 'A page', body: markup``, script: 'go()', isAsking: true })
    expect(policy).toContain(`script-src ${sha256('go()')}; connect-src 'self';`)
  })

  test('allows no image where the page has no icon', () => {
    const { text, policy } = pageDocument({ title: 'A page', body: markup``, hasIcon: false })
    expect(policy).not.toContain('img-src')
    expect(text).not.toContain('rel="icon"')
  })

  test('lets its forms lead to further origins that it names', () => {
    const { policy } = pageDocument({ title: 'A page', body: markup``, formOrigins: ['https://idp.example'] })
    expect(policy).toContain("form-action 'self' https://idp.example;")
  })
})

test('a page goes on by itself where it says so, its target escaped', () => {
  const { text } = pageDocument({ title: 'On', body: markup``, refreshTo: '/v1/device?a="b&arrived=1' })
  expect(text).toContain('<meta http-equiv="refresh" content="0; url=/v1/device?a=&quot;b&amp;arrived=1">')
})
