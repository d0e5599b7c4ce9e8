import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { createHomePage } from '../../../../../src/server/slices/home-page/home-page.ts'
import { homeScript } from '../../../../../src/server/slices/home-page/home-script.ts'
import type { PageVisit } from '../../../../../src/server/http/pages/pages.ts'

const page = createHomePage({ hasLocalAccounts: true, command: 'npx ctl' })
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

test('it asks for the Domain where a sign-in needs one, without the words of the API', async () => {
  const { page: look, sent } = await opened({ code: 'domain_required', detail: 'give the slug', correlation_id: 'c' })
  expect(look('place').hidden).toBe(false)
  expect(look('problem').textContent).toBe('')
  expect(look('status').textContent).toBe('To which Domain do you belong? Give its short name, then sign in.')
  expect(sent).toMatchObject([{ return_to: '/v1/account' }])
})

test('it begins at once where the console leads to it, and asks where there is a choice or a fault', async () => {
  const answered = { authorization_url: 'https://id.example.test/' }
  const { sentAtOnce, gone } = await opened(answered, '?then=console&now')
  expect([sentAtOnce, gone]).toEqual([1, ['https://id.example.test/']])
  expect((await opened(answered, '?then=console')).sentAtOnce).toBe(0)
  expect((await opened(answered, '?then=console&now&signed_out')).sentAtOnce).toBe(0)
  const refused = await opened({ code: 'domain_required' }, '?then=console&now')
  expect(refused.page('place').hidden).toBe(false)
})

test('it names the command as the server was started', () => {
  expect(text).toContain('npx ctl login')
  expect(text).not.toContain('ctl-mesh')
})

interface Element {
  hidden?: boolean
  textContent: string
  value: string
}

/** Runs the script as a browser does, for somebody who is signed out and presses "Sign in". */
async function opened(refusal: object, search = '?then=account') {
  const elements = new Map<string, Element>()
  const pressed: ((event: object) => void)[] = []
  const sent: unknown[] = []
  const gone: string[] = []
  const element = () => ({
    textContent: '',
    value: '',
    dataset: { command: 'npx ctl' },
    append: () => undefined,
    replaceChildren: () => undefined,
    focus: () => undefined,
    addEventListener: (_: string, press: (event: object) => void) => pressed.push(press),
  })
  const byId = (id: string): Element => {
    const found = elements.get(id) ?? element()
    elements.set(id, found)
    return found
  }
  const settled = () => new Promise((resolve) => setImmediate(resolve))
  runInNewContext(homeScript(), {
    document: { getElementById: byId, createElement: element },
    location: {
      search,
      hash: '',
      origin: 'http://127.0.0.1',
      pathname: '/',
      assign: () => undefined,
      replace: (url: string) => gone.push(url),
    },
    history: { replaceState: () => undefined },
    localStorage: { getItem: () => null, setItem: () => undefined },
    addEventListener: () => undefined,
    URLSearchParams,
    fetch: async (path: string, { body }: { body?: string }) => {
      if (body !== undefined) sent.push(JSON.parse(body))
      return path === '/v1/auth/whoami'
        ? { status: 401, text: async () => '{}' }
        : { status: 'authorization_url' in refusal ? 200 : 400, text: async () => JSON.stringify(refusal) }
    },
  })
  await settled()
  const sentAtOnce = sent.length
  pressed[0]?.({ preventDefault: () => undefined })
  await settled()
  return { page: byId, sent, sentAtOnce, gone }
}

test('it links the page of local accounts where there are any', async () => {
  const without = await createHomePage({ hasLocalAccounts: false, command: 'npx ctl' }).handler({} as PageVisit)
  expect(text).toContain('href="/v1/account"')
  expect('document' in without && without.document.text).not.toContain('href="/v1/account"')
})
