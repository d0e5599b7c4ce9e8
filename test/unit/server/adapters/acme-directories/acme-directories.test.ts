import type { ServerResponse } from 'node:http'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createAcmeDirectories } from '../../../../../src/server/adapters/acme-directories/acme-directories.ts'
import { createOutgoingFetch } from '../../../../../src/server/adapters/outgoing-fetch/outgoing-fetch.ts'
import type { OutgoingFetch } from '../../../../../src/server/ports/outgoing-fetch.ts'
import type { NamedSecret } from '../../../../../src/server/ports/project-secrets.ts'
import { secretStoreUnavailable } from '../../../../../src/server/ports/secret-store.ts'
import { Problem } from '../../../../../src/shared/problems.ts'
import { frozenClock } from '../../../../support/server/test-backend.ts'
import { startStubIssuer, type StubIssuer } from '../../../../support/sign-in/stub-issuer.ts'

const PLACE = { projectId: 'p', domainSlug: 'acme', projectSlug: 'edge' }
const CA = 'https://ca.example'
const DIRECTORY = { newNonce: `${CA}/nonce`, newAccount: `${CA}/account`, newOrder: `${CA}/order`, meta: {} }

let server: StubIssuer
let clock: ReturnType<typeof frozenClock>
let secrets: Map<string, string | Problem>
const asked: NamedSecret[] = []

beforeEach(async () => {
  server = await startStubIssuer()
  clock = frozenClock()
  secrets = new Map()
  asked.length = 0
})
afterEach(() => server.stop())

/** The guarded fetch, which reaches the stub of a test without TLS where the host is allowed. */
const overHttp =
  (fetch: OutgoingFetch): OutgoingFetch =>
  (url, request) =>
    fetch(request.allowPrivateNetwork ? url.replace(/^https:/, 'http:') : url, request)

function directories(allowedHosts: readonly string[] = ['127.0.0.1'], deadlineMs = 5_000) {
  return createAcmeDirectories({
    fetch: overHttp(createOutgoingFetch({ deadlineMs })),
    clock,
    allowedHosts,
    secrets: {
      async read(secret) {
        asked.push(secret)
        const value = secrets.get(secret.name)
        if (value instanceof Problem) throw value
        return value === undefined ? undefined : { version: 1, value: Buffer.from(value) }
      },
    },
  })
}

const at = (path: string): string => `https://127.0.0.1:${server.port}${path}`

/** What the check refused with: the reason, or the code where it is another problem. Undefined where it accepted. */
async function refusal(checked: Promise<void>): Promise<string | undefined> {
  try {
    await checked
    return undefined
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const { reason } = error.extras as { readonly reason?: string }
    return error.code === 'acme_directory_unreachable' ? reason : error.code
  }
}

const answering =
  (status: number, body: string, headers: Readonly<Record<string, string>> = {}) =>
  (_request: unknown, response: ServerResponse): void => {
    response.writeHead(status, headers)
    response.end(body)
  }

describe('an ACME directory', () => {
  it('is accepted where it names the resources that a client needs', async () => {
    server.on('/dir', DIRECTORY)
    expect(await refusal(directories().check(at('/dir'), PLACE))).toBeUndefined()
  })

  it.each([
    [
      'a redirect',
      answering(302, '', { location: '/other' }),
      'The directory answers with a redirect, which is not followed.',
    ],
    ['another status', answering(503, '{}'), 'The directory answers with status 503.'],
    ['a success of another kind', answering(206, JSON.stringify(DIRECTORY)), 'The directory answers with status 206.'],
    ['HTML', answering(200, '<!doctype html><title>sesame</title>'), 'The directory does not answer with JSON.'],
    ['nothing', answering(200, ''), 'The directory does not answer with JSON.'],
    ['a list', [DIRECTORY], 'The directory does not answer with a JSON object.'],
    ['a text', '"sesame"', 'The directory does not answer with a JSON object.'],
    [
      '2 MB',
      answering(200, JSON.stringify({ ...DIRECTORY, x: 'x'.repeat(2_000_000) })),
      'The directory is longer than 65536 bytes.',
    ],
    [
      'no nonces',
      { ...DIRECTORY, newNonce: undefined },
      'The directory has no newNonce that is an absolute https URL.',
    ],
    [
      'accounts without TLS',
      { ...DIRECTORY, newAccount: 'http://ca.example/a' },
      'The directory has no newAccount that is an absolute https URL.',
    ],
    [
      'orders at a path',
      { ...DIRECTORY, newOrder: '/order' },
      'The directory has no newOrder that is an absolute https URL.',
    ],
    [
      'orders at a number',
      { ...DIRECTORY, newOrder: 7 },
      'The directory has no newOrder that is an absolute https URL.',
    ],
  ])('is refused where it answers %s', async (_name, answer, reason) => {
    server.on('/dir', answer)
    expect(await refusal(directories().check(at('/dir'), PLACE))).toBe(reason)
    expect(server.asked).toEqual(['/dir'])
  })

  it('is refused where it gives no complete answer in time', async () => {
    server.on('/dir', (_request: unknown, response: ServerResponse) => response.writeHead(200).write('{'))
    expect(await refusal(directories(['127.0.0.1'], 100).check(at('/dir'), PLACE))).toBe(
      'The directory gave no complete answer within 5 s.',
    )
  })

  it('is refused where nobody listens, with the code of the system', async () => {
    const url = at('/dir')
    await server.stop()
    expect(await refusal(directories().check(url, PLACE))).toBe('The directory cannot be reached: ECONNREFUSED.')
    server = await startStubIssuer()
  })

  it.each([
    'http://ca.example/dir',
    'ftp://ca.example',
    '/dir',
    'secret:acme/edge',
    'https://user:sesame@ca.example/',
    '',
  ])('is neither a URL nor a reference where it is %j', async (ref) => {
    expect(await refusal(directories().check(ref, PLACE))).toBe(
      'The directory is neither an https URL nor a reference to a secret.',
    )
  })
})

describe('an ACME directory in a private network', () => {
  const REFUSED = 'The directory is not at a public address, and --acme-allow-hosts does not name its host.'

  it.each([
    ['127.0.0.1', []],
    ['127.0.0.1', ['127.0.0.2', 'localhost']],
    ['localhost', ['127.0.0.1']],
    ['10.0.0.1', []],
    ['169.254.169.254', []],
    ['[::1]', []],
    ['[::ffff:127.0.0.1]', ['127.0.0.1']],
    ['2130706433', []],
  ])('is refused without a connection at %s, where %j is allowed', async (host, allowed) => {
    expect(await refusal(directories(allowed).check(`https://${host}:${server.port}/dir`, PLACE))).toBe(REFUSED)
    expect(server.connections()).toBe(0)
  })

  it('is reached at the host and port that are allowed, and at no other port', async () => {
    server.on('/dir', DIRECTORY)
    const named = directories([`127.0.0.1:${server.port}`, `localhost:${server.port + 1}`])
    expect(await refusal(named.check(at('/dir'), PLACE))).toBeUndefined()
    expect(await refusal(named.check(`https://localhost:${server.port}/dir`, PLACE))).toBe(REFUSED)
    expect(await refusal(named.check('https://127.0.0.1/dir', PLACE))).toBe(REFUSED)
  })

  it('at the usual port is named by that port too', async () => {
    expect(await refusal(directories(['127.0.0.1:443']).check('https://127.0.0.1/dir', PLACE))).toMatch(
      /^The directory cannot be reached: /,
    )
  })
})

describe('a check of a directory', () => {
  it('counts for 60 s where it accepted', async () => {
    server.on('/dir', DIRECTORY)
    const { check } = directories()
    await check(at('/dir'), PLACE)
    clock.nowMs += 59_999
    server.on('/dir', answering(500, ''))
    await check(at('/dir'), PLACE)
    expect(server.asked).toHaveLength(1)
    clock.nowMs += 1
    expect(await refusal(check(at('/dir'), PLACE))).toBe('The directory answers with status 500.')
  })

  it('does not count for another URL', async () => {
    server.on('/dir', DIRECTORY)
    const { check } = directories()
    await check(at('/dir'), PLACE)
    expect(await refusal(check(at('/other'), PLACE))).toBe('The directory answers with status 404.')
  })

  it('is made again after it refused', async () => {
    const { check } = directories()
    expect(await refusal(check(at('/dir'), PLACE))).toBe('The directory answers with status 404.')
    server.on('/dir', DIRECTORY)
    expect(await refusal(check(at('/dir'), PLACE))).toBeUndefined()
  })

  it('shares its request with those that are made meanwhile, whatever it ends with', async () => {
    let answer = (): void => undefined
    server.on('/dir', (_request: unknown, response: ServerResponse) => {
      answer = () => answering(404, '')(undefined, response)
    })
    const { check } = directories()
    const checks = Array.from({ length: 20 }, () => refusal(check(at('/dir'), PLACE)))
    await expect.poll(() => server.asked).toEqual(['/dir'])
    answer()
    expect(new Set(await Promise.all(checks))).toEqual(new Set(['The directory answers with status 404.']))
    expect(server.asked).toHaveLength(1)
  })
})

describe('a directory that a secret names', () => {
  const REF = 'secret:acme/edge/le'
  const MALFORMED =
    'The secret is not a JSON object with directory_url, an https URL, and perhaps both eab_kid and eab_hmac_key.'

  it('is asked for, at the version that the reference names', async () => {
    server.on('/dir', DIRECTORY)
    const account = {
      directory_url: at('/dir'),
      eab_kid: 'kid-1',
      eab_hmac_key: 'c2VjcmV0',
      contact: 'ops@example.org',
    }
    secrets.set('le', JSON.stringify(account))
    const { check } = directories()
    expect(await refusal(check(REF, PLACE))).toBeUndefined()
    expect(await refusal(check(`${REF}:7`, PLACE))).toBeUndefined()
    expect(server.asked).toEqual(['/dir'])
    expect(asked).toEqual([
      { projectId: 'p', name: 'le', version: undefined },
      { projectId: 'p', name: 'le', version: 7 },
    ])
  })

  it.each([
    ['no JSON', 'https://ca.example/sesame'],
    ['a text', '"https://ca.example/sesame"'],
    ['null', 'null'],
    ['no directory', '{"url":"https://ca.example/sesame"}'],
    ['a directory without TLS', '{"directory_url":"http://ca.example/sesame"}'],
    ['a directory with a password', '{"directory_url":"https://a:sesame@ca.example/"}'],
    ['half of a binding', '{"directory_url":"https://ca.example/sesame","eab_kid":"a"}'],
    ['a key that is not base64url', '{"directory_url":"https://ca.example/","eab_kid":"a","eab_hmac_key":"sesame!"}'],
  ])('is refused where the secret holds %s', async (_name, value) => {
    secrets.set('le', value)
    expect(await refusal(directories().check(REF, PLACE))).toBe(MALFORMED)
  })

  it('is refused where there is no such secret', async () => {
    expect(await refusal(directories().check(REF, PLACE))).toBe(
      'The secret that is named, or its version, does not exist.',
    )
  })

  it.each(['secret:acme/core/le', 'secret:other/edge/le'])(
    'is refused as %s, of another Project, unread',
    async (ref) => {
      secrets.set('le', JSON.stringify({ directory_url: at('/dir') }))
      expect(await refusal(directories().check(ref, PLACE))).toBe('The reference names a secret of another Project.')
      expect(asked).toEqual([])
    },
  )

  it('is not known while the secret store is away', async () => {
    secrets.set('le', secretStoreUnavailable('sealed', 'the test says so'))
    expect(await refusal(directories().check(REF, PLACE))).toBe('secret_store_unavailable')
  })

  it('is not part of the reason, nor of what the log shows, where it cannot be used', async () => {
    const answers = [answering(302, '', { location: '/sesame' }), answering(200, 'sesame'), answering(404, 'sesame')]
    for (const answer of answers) {
      server.on('/sesame-dir', answer)
      secrets.set('le', JSON.stringify({ directory_url: at('/sesame-dir?key=sesame') }))
      const error: unknown = await directories()
        .check(REF, PLACE)
        .then(undefined, (failed: unknown) => failed)
      expect(error).toBeInstanceOf(Problem)
      expect(JSON.stringify([error, String(error), String((error as Problem).cause)])).not.toContain('sesame')
    }
  })
})
