import { TOTP } from 'otpauth'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { hashing } from '../../support/server/hashing.ts'
import { PASSWORD, startLocalProvider, type LocalProvider } from '../../support/sign-in/local-provider.ts'
import { plainBrowser, relyingParty, type PlainBrowser, type Visited } from '../../support/sign-in/relying-party.ts'
import { STORES } from '../../support/datastores/stores.ts'

describe.each(STORES)('The bundled provider on the $name store', (store) => {
  describe.skipIf(store.missing)('as a relying party sees it', () => {
    let local: LocalProvider
    let party: Awaited<ReturnType<typeof relyingParty>>
    let browser: PlainBrowser
    beforeAll(async () => {
      local = await startLocalProvider(store)
      party = await relyingParty(local.baseUrl)
    })
    afterAll(() => local.stop())
    beforeEach(() => {
      browser = plainBrowser()
      local.tenancy.clock.nowMs += 3_600_000
    })

    const open = (url: URL) => browser.go(url, `${local.baseUrl}/idp/`)
    const signIn = async (page: Visited, login: string, password = PASSWORD, more = {}) =>
      browser.send(page, 'password', { login, password, ...more })
    const headingOf = ({ text }: Visited) => /<h1>([^<]*)<\/h1>/.exec(text)?.[1]
    const problemOf = ({ text }: Visited) => /role="alert">([^<]*)</.exec(text)?.[1]
    const isBack = ({ url }: Visited) => url.href.startsWith(`${local.baseUrl}/v1/auth/callback?code=`)
    const secretIn = ({ text }: Visited) => /<code>([A-Z2-7 ]+)<\/code>/.exec(text)?.[1]?.replaceAll(' ', '') ?? ''
    const codeOf = (secret: string, laterMs = 0) =>
      new TOTP({ secret }).generate({ timestamp: local.tenancy.clock.nowMs + laterMs })

    it('signs a person in with login and password, and says who it is and how', async () => {
      const { id } = await local.account('ana')
      const begun = await party.begin()
      const page = await open(begun.url)
      expect([page.status, headingOf(page)]).toEqual([200, 'Sign in'])
      const back = await signIn(page, ' Ana ')
      expect(isBack(back)).toBe(true)
      const claims = await begun.finish(back.url)
      expect(claims).toMatchObject({
        iss: `${local.baseUrl}/idp`,
        aud: 'ctl',
        sub: id,
        name: 'The ana',
        preferred_username: 'ana',
        email: 'ana@example.com',
        email_verified: true,
        domain: 'home',
        acr: 'pwd',
        amr: ['pwd'],
      })
      expect(Math.abs(Date.now() / 1000 - Number(claims.auth_time))).toBeLessThan(30)
      const account = await local.tenancy.db
        .selectFrom('local_accounts')
        .selectAll()
        .where('id', '=', id)
        .executeTakeFirst()
      expect(account?.last_sign_in_at?.getTime()).toBe(local.tenancy.clock.nowMs)
    })

    it('gives a code for one use, and none to a second', async () => {
      await local.account('twice')
      const begun = await party.begin()
      const back = await signIn(await open(begun.url), 'twice')
      await begun.finish(back.url)
      await expect(begun.finish(back.url)).rejects.toMatchObject({ error: 'invalid_grant' })
    })

    it.each([
      ['another redirect URI', { redirect_uri: 'https://evil.example/v1/auth/callback' }, 'invalid_redirect_uri'],
      ['another client', { client_id: 'other' }, 'invalid_client'],
    ])('shows %s to the person and sends nobody there', async (_case, parameters, error) => {
      const page = await open((await party.begin(parameters)).url)
      expect(page.status).toBe(400)
      expect(page.url.origin).toBe(local.baseUrl)
      expect(page.text).toContain(error)
    })

    it('refuses an authorization request without PKCE', async () => {
      const { url } = await party.begin()
      url.searchParams.delete('code_challenge')
      url.searchParams.delete('code_challenge_method')
      expect((await open(url)).url.searchParams.get('error')).toBe('invalid_request')
    })

    it('says the same of an unknown login, a wrong password and a disabled account', async () => {
      await local.account('ben')
      const { id } = await local.account('gone')
      await local.tenancy.db
        .updateTable('local_accounts')
        .set({ disabled_at: new Date() })
        .where('id', '=', id)
        .execute()
      const page = await open((await party.begin()).url)
      const answers = [
        await signIn(page, 'nobody'),
        await signIn(page, 'ben', 'not the password'),
        await signIn(page, 'gone'),
      ]
      expect(answers.map(({ status }) => status)).toEqual([400, 400, 400])
      expect(new Set(answers.map(problemOf)).size).toBe(1)
      expect(problemOf(answers[0] ?? page)).toContain('Login or password is wrong.')
    })

    it('hashes the password once, whatever comes of it: how long a refusal takes tells no logins', async () => {
      await local.account('known')
      const { id } = await local.account('left')
      const { id: restingId } = await local.account('resting')
      const set = (values: object, of: string) =>
        local.tenancy.db.updateTable('local_accounts').set(values).where('id', '=', of).execute()
      await set({ disabled_at: new Date() }, id)
      await set({ failed_count: 9, locked_until: new Date(local.tenancy.clock.nowMs + 60_000) }, restingId)
      const [matches, hash] = [vi.spyOn(hashing, 'matches'), vi.spyOn(hashing, 'hash')]
      onTestFinished(() => void vi.restoreAllMocks())
      const made: unknown[] = []
      for (const login of ['nobody-at-all', 'known', 'left', 'resting', '']) {
        matches.mockClear()
        const outcome = await local.signIn.tryPassword({ login, password: 'wrong', sourceAddress: '192.0.2.1' })
        made.push([login, outcome, matches.mock.calls.length, hash.mock.calls.length])
      }
      expect(made).toEqual([
        ['nobody-at-all', 'refused', 1, 0],
        ['known', 'refused', 1, 0],
        ['left', 'refused', 1, 0],
        ['resting', 'refused', 1, 0],
        ['', 'refused', 1, 0],
      ])
    })

    it('has a one-time password replaced before anything else', async () => {
      await local.account('new', { isOneTime: true })
      const begun = await party.begin()
      let page = await signIn(await open(begun.url), 'new')
      expect(headingOf(page)).toBe('Choose a new password')
      page = await browser.send(page, 'new-password', { password: 'short', again: 'short' })
      expect(problemOf(page)).toContain('at least 12 characters')
      page = await browser.send(page, 'new-password', { password: 'my new password', again: 'my now password' })
      expect(problemOf(page)).toContain('differ')
      page = await browser.send(page, 'new-password', { password: PASSWORD, again: PASSWORD })
      expect(problemOf(page)).toContain('the password that you have')
      page = await browser.send(page, 'new-password', { password: 'four otters at dawn', again: 'four otters at dawn' })
      expect(headingOf(page)).toBe('Set up a second factor')
      const back = await browser.send(page, 'skip')
      expect(isBack(back)).toBe(true)
      expect((await begun.finish(back.url))['amr']).toEqual(['pwd'])
    })

    it('sets up an authenticator app where several factors are asked for, and asks for its code from then on', async () => {
      await local.account('otto')
      const first = await party.begin({ acr_values: 'mfa' })
      let page = await signIn(await open(first.url), 'otto')
      expect(headingOf(page)).toBe('Set up a second factor')
      expect(page.text).not.toContain('Not now')
      const secret = secretIn(page)
      page = await browser.send(page, 'enrol-totp', { code: '000000' })
      expect([page.status, secretIn(page)]).toEqual([400, secret])
      page = await browser.send(page, 'enrol-totp', { code: codeOf(secret) })
      expect(headingOf(page)).toBe('Keep your recovery codes')
      const back = await browser.send(page, 'skip-codes')
      expect(await first.finish(back.url)).toMatchObject({ acr: 'mfa', amr: ['pwd', 'otp', 'mfa'] })

      browser = plainBrowser()
      const second = await party.begin()
      page = await signIn(await open(second.url), 'otto')
      expect(headingOf(page)).toBe('Second factor')
      // The code that proved the app was good once.
      page = await browser.send(page, 'code', { code: codeOf(secret) })
      expect(problemOf(page)).toContain('That code is not good')
      const later = await browser.send(page, 'code', { code: codeOf(secret, 30_000) })
      expect(await second.finish(later.url)).toMatchObject({ acr: 'mfa', amr: ['pwd', 'otp', 'mfa'] })
    })

    it('sets up another factor for whoever has proven one, and for nobody who has not', async () => {
      const { id } = await local.account('olli')
      const secret = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXR'
      expect(await local.signIn.enrolTotp({ accountId: id, secret, code: codeOf(secret) })).toBe(true)
      const begun = await party.begin()
      let page = await open(begun.url)
      page = await browser.send(page, 'password', { login: 'olli', password: PASSWORD, enrol: 'yes' })
      expect(headingOf(page)).toBe('Second factor')
      const early = await browser.send(page, 'enrol-totp', { code: '000000' })
      expect(headingOf(early)).toBe('Second factor')
      page = await browser.send(early, 'code', { code: codeOf(secret, 30_000) })
      expect(headingOf(page)).toBe('Set up a second factor')
      expect(page.text).toContain('It takes the place of the app that you have set up before.')
      const next = secretIn(page)
      expect(next).not.toBe(secret)
      page = await browser.send(page, 'enrol-totp', { code: codeOf(next) })
      const back = await browser.send(page, 'skip-codes')
      expect(await begun.finish(back.url)).toMatchObject({ acr: 'mfa', amr: ['pwd', 'otp', 'mfa'] })
    })

    const codesIn = ({ text }: Visited) =>
      [...text.matchAll(/<li>([a-z0-9-]{17})<\/li>/g)].map(([, code]) => code ?? '')

    /** A person with an app and the recovery codes that came with it. */
    async function withCodes(login: string) {
      const { id } = await local.account(login)
      let page = await signIn(await open((await party.begin({ acr_values: 'mfa' })).url), login)
      const secret = secretIn(page)
      page = await browser.send(page, 'enrol-totp', { code: codeOf(secret) })
      const codes = codesIn(page)
      await browser.send(page, 'keep-codes')
      browser = plainBrowser()
      return { id, secret, codes }
    }

    async function atSecondFactor(login: string) {
      const begun = await party.begin()
      return { begun, page: await signIn(await open(begun.url), login) }
    }

    const auditOf = async (relation: string) =>
      (
        await local.tenancy.db
          .selectFrom('audit')
          .select(['outcome', 'context'])
          .where('relation', '=', relation)
          .orderBy('id')
          .execute()
      ).at(-1)

    it('shows recovery codes once where a second factor is set up, and keeps no text of them', async () => {
      const { codes, id } = await withCodes('rosa')
      expect(new Set(codes).size).toBe(10)
      const rows = await local.tenancy.db
        .selectFrom('local_recovery_codes')
        .selectAll()
        .where('account_id', '=', id)
        .execute()
      expect(rows).toHaveLength(10)
      const stored = JSON.stringify(rows)
      expect(codes.filter((code) => stored.includes(code) || stored.includes(code.replaceAll('-', '')))).toEqual([])
    })

    it('takes a recovery code for the second factor, once, and offers to set up another device', async () => {
      const { codes } = await withCodes('rita')
      const { begun, page } = await atSecondFactor('rita')
      const typed = ` ${codes[3]?.toUpperCase().replaceAll('-', ' ')}`
      const enrol = await browser.send(page, 'recovery-code', { recovery_code: typed })
      expect(headingOf(enrol)).toBe('Set up a second factor')
      expect(enrol.text).toContain('You have used a recovery code; 9 recovery codes are left.')
      const back = await browser.send(enrol, 'skip')
      expect(await begun.finish(back.url)).toMatchObject({ acr: 'mfa', amr: ['pwd', 'otp', 'mfa'] })
      expect(await auditOf('local_account.recovery_code')).toEqual({ outcome: 'granted', context: { codes_left: 9 } })

      browser = plainBrowser()
      const again = await atSecondFactor('rita')
      const refused = await browser.send(again.page, 'recovery-code', { recovery_code: codes[3] ?? '' })
      expect([refused.status, problemOf(refused)]).toEqual([
        400,
        'That is none of your recovery codes, or it was used before. After several wrong guesses an account rests for a while.',
      ])
      expect(local.refused.at(-1)).toMatchObject({ relation: 'local_account.sign_in', reason: 'wrong_recovery_code' })
    })

    it('takes a recovery code from one of two sign-ins that show it at once', async () => {
      const { codes, id } = await withCodes('rudi')
      const guess = { accountId: id, code: codes[0] ?? '', sourceAddress: '192.0.2.1' }
      const both = await Promise.all([local.signIn.tryRecoveryCode(guess), local.signIn.tryRecoveryCode(guess)])
      expect(both.toSorted()).toEqual([false, true])
    })

    it('counts guesses at recovery codes with those at the codes of the app, and rests alike', async () => {
      const { id, codes, secret } = await withCodes('rolf')
      const guess = (code: string) => local.signIn.tryRecoveryCode({ accountId: id, code, sourceAddress: '192.0.2.1' })
      const guessApp = (code: string) => local.signIn.tryCode({ accountId: id, code, sourceAddress: '192.0.2.1' })
      for (const code of ['aaaaa-aaaaa-aaaaa', '', 'x']) expect(await guess(code)).toBe(false)
      expect([await guessApp('000000'), await guessApp('000001')]).toEqual([false, false])
      expect([await guess(codes[0] ?? ''), await guessApp(codeOf(secret, 30_000))]).toEqual([false, false])
      expect(local.refused.at(-2)).toMatchObject({ reason: 'too_many_failures' })
      local.tenancy.clock.nowMs += 31_000
      expect(await guess(codes[0] ?? '')).toBe(true)
    })

    it("takes no account's code for another's", async () => {
      const { codes } = await withCodes('ruth')
      const other = await withCodes('rene')
      const guess = { accountId: other.id, code: codes[0] ?? '', sourceAddress: '192.0.2.1' }
      expect(await local.signIn.tryRecoveryCode(guess)).toBe(false)
    })

    it('says why it offers no passkeys at an address', async () => {
      await local.account('addr')
      const page = await signIn(await open((await party.begin({ acr_values: 'mfa' })).url), 'addr')
      expect(page.text).toContain('Passkeys are not offered here')
    })

    it('asks for a second factor before a new password, so that a password alone changes none', async () => {
      const { id } = await local.account('olga')
      const secret = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'
      expect(await local.signIn.enrolTotp({ accountId: id, secret, code: codeOf(secret) })).toBe(true)
      await local.tenancy.db
        .updateTable('local_accounts')
        .set({ must_change_password: true })
        .where('id', '=', id)
        .execute()
      const page = await signIn(await open((await party.begin()).url), 'olga')
      expect(headingOf(page)).toBe('Second factor')
      const skipped = await browser.send(page, 'new-password', {
        password: 'four otters at dawn',
        again: 'four otters at dawn',
      })
      expect(headingOf(skipped)).toBe('Second factor')
    })

    it('makes a weaker sign-in anew where a stronger one is asked for, and takes a stronger one for a weaker', async () => {
      const { id } = await local.account('step')
      const weak = await party.begin()
      expect(isBack(await signIn(await open(weak.url), 'step'))).toBe(true)
      expect(isBack(await open((await party.begin()).url))).toBe(true)
      const secret = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXQ'
      await local.signIn.enrolTotp({ accountId: id, secret, code: codeOf(secret) })
      const strong = await party.begin({ acr_values: 'mfa' })
      let page = await open(strong.url)
      expect(headingOf(page)).toBe('Sign in')
      page = await browser.send(await signIn(page, 'step'), 'code', { code: codeOf(secret, 30_000) })
      expect(await strong.finish(page.url)).toMatchObject({ acr: 'mfa' })
      expect(isBack(await open((await party.begin({ acr_values: 'pwd' })).url))).toBe(true)
    })

    it.each([[{ prompt: 'login' }], [{ max_age: '0' }]])('signs anew for %j', async (parameters) => {
      const login = `again-${Object.keys(parameters).join('')}`.replace('_', '-')
      await local.account(login)
      await signIn(await open((await party.begin()).url), login)
      // `max_age` is measured in whole seconds.
      await expect
        .poll(async () => headingOf(await open((await party.begin(parameters)).url)), { timeout: 10_000 })
        .toBe('Sign in')
    })

    it('forgets sign-ins that were ended since', async () => {
      const { id } = await local.account('ended')
      await signIn(await open((await party.begin()).url), 'ended')
      const signedOutAt = new Date(Date.now() + 5_000)
      await local.tenancy.db
        .updateTable('local_accounts')
        .set({ signed_out_at: signedOutAt })
        .where('id', '=', id)
        .execute()
      expect(headingOf(await open((await party.begin()).url))).toBe('Sign in')
    })

    it('goes on after a restart where it was', async () => {
      await local.account('rest')
      const begun = await party.begin()
      const page = await open(begun.url)
      await local.restart()
      const back = await signIn(page, 'rest')
      await local.restart()
      expect((await begun.finish(back.url))['preferred_username']).toBe('rest')
    })

    it('takes no form from elsewhere: without its token, from another origin or browser', async () => {
      await local.account('form')
      const page = await open((await party.begin()).url)
      const fields = { login: 'form', password: PASSWORD }
      expect((await browser.send(page, 'password', { ...fields, csrf: 'forged' })).status).toBe(403)
      expect((await plainBrowser().send(page, 'password', fields)).status).toBe(400)
      const action = new URL(/action="([^"]+)"/.exec(page.text)?.[1] ?? '', page.url)
      const csrf = /name="csrf" value="([^"]+)"/.exec(page.text)?.[1] ?? ''
      const cookie = [...browser.cookies.values()].map(({ value }) => value).join('; ')
      const body = new URLSearchParams({ csrf, step: 'password', ...fields })
      const foreign = await fetch(action, { method: 'POST', body, headers: { cookie, origin: 'https://evil.example' } })
      expect(foreign.status).toBe(403)
    })

    it('answers a form that is too long without reading on', async () => {
      const page = await open((await party.begin()).url)
      const long = await browser.send(page, 'password', { login: 'x', password: 'x'.repeat(70_000) })
      expect(long.status).toBe(413)
    })

    it('believes no header about where it is', async () => {
      const headers = { host: 'evil.example', 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' }
      const answer = await fetch(`${local.baseUrl}/idp/.well-known/openid-configuration`, { headers })
      const { issuer, token_endpoint: token } = (await answer.json()) as Record<string, string>
      expect([issuer, token]).toEqual([`${local.baseUrl}/idp`, `${local.baseUrl}/idp/token`])
    })

    it('allows pages no script but its own, no frame and no other form target', async () => {
      const { headers } = await open((await party.begin()).url)
      const policy = headers.get('content-security-policy') ?? ''
      expect(policy).toMatch(
        /default-src 'none'; style-src 'sha256-[^']+'; script-src 'sha256-[^']+'; form-action 'self'/,
      )
      expect(policy).toContain("frame-ancestors 'none'")
      expect(headers.get('cache-control')).toBe('no-store')
    })

    it('keeps nothing in the datastore that would continue a sign-in', async () => {
      await local.account('secret')
      const begun = await party.begin()
      const back = await signIn(await open(begun.url), 'secret')
      const code = back.url.searchParams.get('code') ?? ''
      const rows = await local.tenancy.db.selectFrom('provider_states').selectAll().execute()
      expect(rows.length).toBeGreaterThan(0)
      const bytes = Buffer.concat(rows.flatMap(({ sealed, id_hash: hash }) => [sealed, hash])).toString('latin1')
      expect(bytes).not.toContain(code)
      expect(bytes).not.toContain('secret')
    })
  })
})
