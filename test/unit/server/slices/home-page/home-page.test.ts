import { expect, test } from 'vitest'
import { createHomePage } from '../../../../../src/server/slices/home-page/home-page.ts'
import { homeScript } from '../../../../../src/server/slices/home-page/home-script.ts'
import type { PageVisit } from '../../../../../src/server/http/pages/pages.ts'

const page = createHomePage({ hasLocalAccounts: true })
// The page looks at nothing of a visit.
const answer = await page.handler({} as PageVisit)
const { text, policy } = 'document' in answer ? answer.document : expect.fail('the start page leads elsewhere')

test('the start page is at the root, and the same for everybody', async () => {
  expect([page.method, page.path]).toEqual(['GET', '/'])
  expect(await page.handler({ session: {} } as PageVisit)).toEqual(answer)
})

test('it runs its own script alone, and loads nothing from elsewhere', () => {
  expect(policy).toMatch(
    /^default-src 'none'; style-src 'sha256-[^']+'; img-src data:; script-src 'sha256-[^']+'; connect-src 'self'; /,
  )
  expect(text).not.toMatch(/https?:\/\//)
  expect(text).not.toMatch(/\son\w+=|javascript:|style=/i)
})

test('its script writes texts, never markup, and nothing in it can end it', () => {
  expect(homeScript()).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b/)
  expect(homeScript()).not.toContain('</')
})

test('it knows a sentence for whatever a sign-in may fail with', () => {
  const [, json = '{}'] = /const SENTENCES = (\{.*\})/.exec(homeScript()) ?? []
  expect(JSON.parse(json)).toMatchObject({
    invalid_sign_in: 'This sign-in was not begun in this browser, or it has been used up; begin again.',
    not_invited: 'Nobody has let this person into the Domain.',
    rate_limited: 'The rate limit is exhausted; retry after the time given in Retry-After.',
  })
})

test('it links the page of local accounts where there are any', async () => {
  const without = await createHomePage({ hasLocalAccounts: false }).handler({} as PageVisit)
  expect(text).toContain('href="/v1/account"')
  expect('document' in without && without.document.text).not.toContain('/v1/account')
})
