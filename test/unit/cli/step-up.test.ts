import { describe, expect, it } from 'vitest'
import { useStubbedCli } from '../../support/cli/stubbed-cli.ts'
import { refused, type SeenRequest, type StubAnswer, type StubRoutes } from '../../support/cli/stub-server.ts'

const DOMAIN = '019c1a10-0000-7000-8000-000000000d01'
const [ONE, TWO] = ['019c1a10-0000-7000-8000-00000000a001', '019c1a10-0000-7000-8000-00000000a002'] as const
const [ANA, BOB] = ['user:019c1a10-0000-7000-8000-000000000e01', 'user:019c1a10-0000-7000-8000-000000000e02'] as const
const OLD = 'psk_local_old'
const TOKEN_ID = '019c1a10-0000-7000-8000-00000000b001'
const NEW = `psk_local_${TOKEN_ID.replaceAll('-', '')}_new`
const AT = '2026-02-01T11:00:00.000Z'

const violation = (id: string) => ({
  id,
  node_id: '019c1a10-0000-7000-8000-00000000c001',
  domain_id: DOMAIN,
  kind: 'binary',
  status: 'acknowledged',
  node_name: 'web-1',
  artifact: '/usr/local/bin/agent',
  artifact_id: '019c1a10-0000-7000-8000-00000000c002',
  detected_at: AT,
  acknowledge_reason: 'seen',
  acknowledged_by_subject: ANA,
  acknowledged_at: AT,
})

const open = (id: string) => ({
  ...violation(id),
  status: 'open',
  acknowledge_reason: null,
  acknowledged_by_subject: null,
  acknowledged_at: null,
})

const whoami = (subject: string, type = 'user') => ({
  subject,
  kind: type,
  domain_id: DOMAIN,
  domain_slug: 'acme',
  domain_display_name: 'Acme',
  display_name: subject === ANA ? 'Ana' : 'Bob',
  credential: { type: 'api-token', id: TOKEN_ID, scopes: ['*'], expires_at: null },
  auth_time: null,
  acr: null,
})

const isNew = ({ headers }: SeenRequest): boolean => headers.authorization === `Bearer ${NEW}`

const challenge: StubAnswer = (() => {
  const document = refused(401, 'step_up_required', 'This operation needs a stronger sign-in than this session has.')
  return { ...document, body: { ...(document.body as object), acr_values: ['mfa', 'phr'], max_age: 300 } }
})()

const CODES = {
  device_code: 'opaque',
  user_code: 'BCDF-GHJK',
  verification_uri: 'https://mesh.example/v1/device',
  verification_uri_complete: 'https://mesh.example/v1/device?user_code=BCDF-GHJK',
  expires_in: 600,
  interval: 5,
}

/** A server that wants a stronger sign-in than the first token has. */
const routes = (more: StubRoutes = {}): StubRoutes => ({
  ...Object.fromEntries([ONE, TWO].map((id) => [`GET /v1/integrity-violations/${id}`, { body: open(id) }])),
  ...Object.fromEntries(
    [ONE, TWO].map((id) => [
      `POST /v1/integrity-violations/${id}/acknowledge`,
      (request: SeenRequest) => (isNew(request) ? { body: violation(id) } : challenge),
    ]),
  ),
  'GET /v1/auth/whoami': { body: whoami(ANA) },
  'POST /v1/auth/device-code': { body: CODES },
  'POST /v1/auth/device-token': {
    body: { access_token: NEW, token_type: 'Bearer', expires_in: 900, scope: 'integrity:write tokens:write' },
  },
  [`DELETE /v1/auth/tokens/${TOKEN_ID}`]: { status: 204 },
  ...more,
})

/** The routes of one Domain, in the order in which they are called. */
const IN_DOMAIN: StubRoutes = {
  [`GET /v1/domains/${DOMAIN}/integrity-violations/${ONE}`]: { body: open(ONE) },
  [`POST /v1/domains/${DOMAIN}/integrity-violations/${ONE}/acknowledge`]: { body: violation(ONE) },
}

const DENIED = refused(403, 'permission_denied', 'The caller lacks the relation that this operation needs.')

const LINE = `violations ack ${ONE} --no-browser --reason seen`

describe('ctl violations ack where the server asks for a stronger sign-in', () => {
  const cli = useStubbedCli({ CTL_TOKEN: OLD })
  const calls = () => cli.stub?.seen.map(({ method, path }) => `${method} ${path}`) ?? []
  const seen = (call: string) => cli.stub?.seen.filter(({ method, path }) => `${method} ${path}` === call) ?? []

  it('shows a code, waits for its approval, repeats the call with that token and revokes it', async () => {
    const { exitCode, stdout, stderr } = await cli.run(`${LINE} -o json`, routes())
    expect([exitCode, JSON.parse(stdout)]).toMatchObject([0, { id: ONE, status: 'acknowledged' }])
    expect(stderr).toContain('This needs a sign-in with mfa or phr, no older than 5m.')
    expect(stderr).toContain('https://mesh.example/v1/device?user_code=BCDF-GHJK')
    expect(calls()).toEqual([
      `GET /v1/integrity-violations/${ONE}`,
      `POST /v1/integrity-violations/${ONE}/acknowledge`,
      'GET /v1/auth/whoami',
      'POST /v1/auth/device-code',
      'POST /v1/auth/device-token',
      'GET /v1/auth/whoami',
      `POST /v1/integrity-violations/${ONE}/acknowledge`,
      `DELETE /v1/auth/tokens/${TOKEN_ID}`,
    ])
    expect(seen('POST /v1/auth/device-code')[0]?.body).toMatchObject({
      client_name: expect.stringMatching(/^ctl violations ack on /),
      domain_id: DOMAIN,
      scope: 'integrity:write tokens:write',
      acr_values: 'mfa phr',
      max_age: 300,
      token_expires_in_seconds: 900,
    })
    expect(seen(`DELETE /v1/auth/tokens/${TOKEN_ID}`).every(isNew)).toBe(true)
  })

  it('keeps nothing of that sign-in', async () => {
    await cli.run(LINE, routes())
    const { exitCode, stdout } = await cli.home.run(['contexts', 'list', '-o', 'json'])
    expect([exitCode, JSON.parse(stdout)]).toMatchObject([0, []])
  })

  it('has somebody sign in once for several violations', async () => {
    const { exitCode } = await cli.run(`violations ack ${ONE} ${TWO} --no-browser --reason seen`, routes())
    expect(exitCode).toBe(0)
    expect(seen('POST /v1/auth/device-code')).toHaveLength(1)
    expect(seen(`POST /v1/integrity-violations/${TWO}/acknowledge`).map(isNew)).toEqual([true])
  })

  it('asks for a sign-in of the last 15 minutes where the server names no age', async () => {
    const { max_age: _, ...document } = challenge.body as Record<string, unknown>
    const first = {
      [`POST /v1/integrity-violations/${ONE}/acknowledge`]: (request: SeenRequest) =>
        isNew(request) ? { body: violation(ONE) } : { ...challenge, body: document },
    }
    const { exitCode } = await cli.run(LINE, routes(first))
    expect(exitCode).toBe(0)
    expect(seen('POST /v1/auth/device-code')[0]?.body).toMatchObject({ acr_values: 'mfa phr', max_age: 900 })
  })

  it('calls once more and no further where the new sign-in will not do either', async () => {
    const never = { [`POST /v1/integrity-violations/${ONE}/acknowledge`]: challenge }
    const { exitCode, stderr } = await cli.run(LINE, routes(never))
    expect(exitCode).toBe(4)
    expect(stderr).toContain(
      'error: the new sign-in does not do either: the server needs one with mfa or phr, no older than 5m',
    )
    expect(seen(`POST /v1/integrity-violations/${ONE}/acknowledge`)).toHaveLength(2)
    expect(seen('POST /v1/auth/device-code')).toHaveLength(1)
    expect(calls().at(-1)).toBe(`DELETE /v1/auth/tokens/${TOKEN_ID}`)
  })

  it.each([
    ['access_denied', 'the sign-in was refused'],
    ['expired_token', 'nobody approved the sign-in in time'],
  ])('ends with 4 and one sentence where the sign-in ends with %s', async (code, sentence) => {
    const { exitCode, stderr } = await cli.run(LINE, routes({ 'POST /v1/auth/device-token': refused(400, code, 'x') }))
    expect(exitCode).toBe(4)
    expect(stderr).toContain(`error: ${sentence}\n`)
    expect(stderr).toContain('Nothing was changed. Begin again: ctl violations ack')
    expect(seen(`POST /v1/integrity-violations/${ONE}/acknowledge`)).toHaveLength(1)
  })

  it('does nothing as another person: it revokes the token, and names both', async () => {
    const other = { 'GET /v1/auth/whoami': (request: SeenRequest) => ({ body: whoami(isNew(request) ? BOB : ANA) }) }
    const { exitCode, stderr } = await cli.run(LINE, routes(other))
    expect(exitCode).toBe(4)
    expect(stderr).toContain(`Bob (${BOB}) signed in, and this command acts as Ana (${ANA})`)
    expect(seen(`POST /v1/integrity-violations/${ONE}/acknowledge`)).toHaveLength(1)
    expect(seen(`DELETE /v1/auth/tokens/${TOKEN_ID}`)).toHaveLength(1)
  })

  it('says who acts where a person signs in for a service identity', async () => {
    const service = {
      'GET /v1/auth/whoami': (request: SeenRequest) => ({
        body: isNew(request)
          ? whoami(ANA)
          : whoami('serviceaccount:019c1a10-0000-7000-8000-000000000e03', 'service-identity'),
      }),
    }
    const { exitCode, stderr } = await cli.run(LINE, routes(service))
    expect(exitCode).toBe(0)
    expect(stderr).toContain(`Ana (${ANA}) signed in, and is who does it.`)
  })

  it.each([
    ['--no-input', `violations ack ${ONE} --no-browser --no-input --reason seen`, false],
    ['a pipe without --no-browser', `violations ack ${ONE} --reason seen`, true],
  ])('says in one sentence what to do where nobody is there: %s', async (_, line, mayBeElsewhere) => {
    const { exitCode, stderr } = await cli.run(line, routes())
    expect(exitCode).toBe(4)
    expect(stderr).toContain(
      'the server needs a sign-in with mfa or phr, no older than 5m, and there is nobody to sign in',
    )
    expect(stderr).toContain('Sign in before: ctl login --acr-values mfa,phr --max-age 300s')
    expect(stderr.includes('add --no-browser')).toBe(mayBeElsewhere)
    expect(seen('POST /v1/auth/device-code')).toEqual([])
  })

  it('needs a reason, and asks for it on a terminal', async () => {
    const piped = await cli.run(`violations ack ${ONE}`, routes())
    expect([piped.exitCode, calls()]).toEqual([2, []])
    expect(piped.stderr).toContain('--reason is missing')
    const typed = await cli.run(`violations ack ${ONE} --no-browser`, routes(), { isTty: true, answers: ['seen'] })
    expect(typed.exitCode).toBe(0)
    expect(seen(`POST /v1/integrity-violations/${ONE}/acknowledge`)[0]?.body).toEqual({ reason: 'seen' })
  })

  it.each(['violations ack --reason seen', 'violations ack -l env=prod --reason seen'])(
    'names each violation: "%s" is a usage error',
    async (line) => {
      const { exitCode } = await cli.run(line, routes())
      expect([exitCode, calls()]).toEqual([2, []])
    },
  )

  it.each([
    [
      '--no-input',
      '--no-browser --no-input',
      'With --no-browser in place of --no-input, ctl violations ack shows a code',
    ],
    ['a pipe', '', 'Add --no-browser: ctl violations ack shows a code that a person approves in any browser'],
  ])('asks for a person and no ctl login where the token is of a service identity: %s', async (_, flags, hint) => {
    const service = { 'GET /v1/auth/whoami': { body: whoami(BOB, 'service-identity') } }
    const { exitCode, stderr } = await cli.run(`violations ack ${ONE} ${flags} --reason seen`, routes(service))
    expect(exitCode).toBe(4)
    expect(stderr).toContain('the token of a service identity, which cannot sign in: a person must do it.')
    expect(stderr).toContain(hint)
    expect(stderr).not.toContain('ctl login')
  })

  it.each([
    ['acknowledged', { acknowledged_at: AT }, `the violation was already acknowledged by ${ANA} 1h ago: seen`],
    ['resolved', { resolved_at: AT }, 'the violation was resolved 1h ago, and is not open'],
  ])('has nobody sign in for a violation that is %s', async (status, more, sentence) => {
    const read = { [`GET /v1/integrity-violations/${ONE}`]: { body: { ...violation(ONE), status, ...more } } }
    const { exitCode, stderr } = await cli.run(LINE, routes(read))
    expect(exitCode).toBe(6)
    expect(stderr).toContain(`error: ${sentence}\n`)
    expect(seen(`POST /v1/integrity-violations/${ONE}/acknowledge`)).toEqual([])
  })

  it('has nobody sign in for a violation that does not exist', async () => {
    const missing = refused(404, 'integrity_violation_not_found', 'There is no such violation.')
    const { exitCode, stderr } = await cli.run(LINE, routes({ [`GET /v1/integrity-violations/${ONE}`]: missing }))
    expect([exitCode, calls()]).toEqual([3, [`GET /v1/integrity-violations/${ONE}`]])
    expect(stderr).toContain('error: violations ack: There is no such violation.')
  })

  it('has no person sign in for a violation that the person may not read', async () => {
    const { exitCode } = await cli.run(
      LINE,
      routes({
        [`GET /v1/integrity-violations/${ONE}`]: DENIED,
        [`GET /v1/domains/${DOMAIN}/integrity-violations/${ONE}`]: DENIED,
      }),
    )
    expect(exitCode).toBe(5)
    expect(seen(`POST /v1/integrity-violations/${ONE}/acknowledge`)).toEqual([])
  })

  it('acknowledges with a token whose scopes cover no reads', async () => {
    const document = { ...(DENIED.body as object), reason: 'out_of_scope' }
    const { exitCode } = await cli.run(
      LINE,
      routes({ [`GET /v1/integrity-violations/${ONE}`]: { ...DENIED, body: document } }),
    )
    expect(exitCode).toBe(0)
  })

  it('refuses a blank reason before it calls the server', async () => {
    const { exitCode, stderr } = await cli.run(`violations ack ${ONE} --reason '  '`, routes())
    expect([exitCode, calls()]).toEqual([2, []])
    expect(stderr).toContain('error: --reason is blank\n')
  })

  it('shows node, artifact, status, reason, subject and time of an acknowledgement', async () => {
    const { stdout } = await cli.run(LINE, routes())
    expect(stdout.trimEnd().split('\n')).toEqual([
      `ID\t${ONE}`,
      'NODE NAME\tweb-1',
      'KIND\tbinary',
      'ARTIFACT\t/usr/local/bin/agent',
      'STATUS\tacknowledged',
      'ACKNOWLEDGE REASON\tseen',
      `ACKNOWLEDGED BY SUBJECT\t${ANA}`,
      `ACKNOWLEDGED\t${AT}`,
    ])
  })

  describe('of several', () => {
    const resolved = { body: { ...violation(ONE), status: 'resolved', resolved_at: AT } }
    const missing = refused(404, 'integrity_violation_not_found', 'There is no such violation.')

    it.each([
      ['is not open', resolved, `error: ${ONE}: the violation was resolved 1h ago, and is not open`, 6],
      ['does not exist', missing, `error: ${ONE}: violations ack: There is no such violation.`, 3],
    ])('acknowledges the others where one %s, and ends with its code', async (_, first, line, code) => {
      const { exitCode, stdout, stderr } = await cli.run(
        `violations ack ${ONE} ${TWO} --no-browser --reason seen -o name`,
        routes({ [`GET /v1/integrity-violations/${ONE}`]: first }),
      )
      expect([exitCode, stdout]).toEqual([code, `${TWO}\n`])
      expect(stderr.split('\n').filter((one) => one.startsWith('error:'))).toEqual([line])
    })

    it('answers a list where one of two is acknowledged', async () => {
      const { stdout, stderr } = await cli.run(
        `violations ack ${ONE} ${TWO} --no-browser --reason seen -o json`,
        routes({ [`GET /v1/integrity-violations/${ONE}`]: resolved }),
      )
      expect(JSON.parse(stdout)).toMatchObject([{ id: TWO }])
      expect(stderr.split('\n').find((one) => one.startsWith('{'))).toContain('"exit_code":6')
    })

    it('ends with the code of the first failure where all fail, of which one is not found by its end', async () => {
      const { exitCode, stderr } = await cli.run(
        `violations ack ffffff ${ONE} --no-browser --reason seen`,
        routes({
          'GET /v1/integrity-violations': { body: { items: [open(TWO)], next_cursor: null } },
          [`GET /v1/integrity-violations/${ONE}`]: resolved,
        }),
      )
      expect(exitCode).toBe(3)
      expect(stderr.split('\n').filter((one) => one.startsWith('error:'))).toEqual([
        'error: there is no violation "ffffff", or you may not see it',
        `error: ${ONE}: the violation was resolved 1h ago, and is not open`,
      ])
    })

    it('asks for no second sign-in where the first one is refused', async () => {
      const { exitCode, stderr } = await cli.run(
        `violations ack ${ONE} ${TWO} --no-browser --reason seen`,
        routes({ 'POST /v1/auth/device-token': refused(400, 'access_denied', 'x') }),
      )
      expect(exitCode).toBe(4)
      expect(stderr).toContain(`not done: ${ONE}, ${TWO}`)
      expect(seen('POST /v1/auth/device-code')).toHaveLength(1)
    })
  })

  it('asks nobody where the server asks for nothing', async () => {
    const free = { [`POST /v1/integrity-violations/${ONE}/acknowledge`]: { body: violation(ONE) } }
    const { exitCode, stderr } = await cli.run(LINE, routes(free))
    expect([exitCode, calls()]).toEqual([
      0,
      [`GET /v1/integrity-violations/${ONE}`, `POST /v1/integrity-violations/${ONE}/acknowledge`],
    ])
    expect(stderr).toContain(`Acknowledged violation ${ONE}.`)
  })

  it('acknowledges in the own Domain what may not be acknowledged on the platform, with one sign-in', async () => {
    const denied = {
      ...refused(403, 'permission_denied', 'The caller lacks the relation that this operation needs.'),
    }
    const { exitCode } = await cli.run(
      LINE,
      routes({
        [`POST /v1/integrity-violations/${ONE}/acknowledge`]: (request: SeenRequest) =>
          isNew(request) ? denied : challenge,
        [`POST /v1/domains/${DOMAIN}/integrity-violations/${ONE}/acknowledge`]: (request: SeenRequest) =>
          isNew(request) ? { body: violation(ONE) } : challenge,
      }),
    )
    expect(exitCode).toBe(0)
    expect(seen('POST /v1/auth/device-code')).toHaveLength(1)
  })

  it('finds violations by the ends of their ids in the own Domain, where the platform shows no list', async () => {
    const denied = refused(403, 'permission_denied', 'The caller lacks the relation that this operation needs.')
    const { exitCode } = await cli.run(
      'violations ack 00a002 --reason seen',
      routes({
        'GET /v1/integrity-violations': denied,
        [`GET /v1/domains/${DOMAIN}/integrity-violations`]: {
          body: { items: [violation(ONE), violation(TWO)], next_cursor: null },
        },
        [`GET /v1/integrity-violations/${TWO}`]: denied,
        [`GET /v1/domains/${DOMAIN}/integrity-violations/${TWO}`]: { body: open(TWO) },
        [`POST /v1/integrity-violations/${TWO}/acknowledge`]: denied,
        [`POST /v1/domains/${DOMAIN}/integrity-violations/${TWO}/acknowledge`]: { body: violation(TWO) },
      }),
    )
    expect(exitCode).toBe(0)
    expect(calls().at(-1)).toBe(`POST /v1/domains/${DOMAIN}/integrity-violations/${TWO}/acknowledge`)
  })

  it('asks the Domain alone where --domain names it', async () => {
    const { exitCode } = await cli.run(`${LINE} --domain ${DOMAIN}`, routes(IN_DOMAIN))
    expect([exitCode, calls()]).toEqual([0, Object.keys(IN_DOMAIN)])
  })

  it('asks the Domain alone where the environment names it', async () => {
    const { exitCode } = await cli.run(LINE, routes(IN_DOMAIN), { env: { CTL_DOMAIN: DOMAIN } })
    expect([exitCode, calls()]).toEqual([0, Object.keys(IN_DOMAIN)])
  })
})

describe('ctl domains update --step-up', () => {
  const cli = useStubbedCli({ CTL_TOKEN: OLD })
  const patched = async (...texts: readonly string[]) => {
    const line = `domains update ${DOMAIN} ${texts.map((text) => `--step-up ${text}`).join(' ')}`
    const result = await cli.run(line, { [`PATCH /v1/domains/${DOMAIN}`]: refused(400, 'invalid_body', 'x') })
    return cli.stub?.seen.length === 0 ? result.stderr : cli.stub?.seen[0]?.body
  }

  it.each([
    ['integrity_acknowledge=mfa', { acr_values: ['mfa'] }],
    ['integrity_acknowledge=mfa,urn:example:phr@15m', { acr_values: ['mfa', 'urn:example:phr'], max_age: 900 }],
    ['integrity_acknowledge=mfa@60', { acr_values: ['mfa'], max_age: 60 }],
    ['integrity_acknowledge=mailto:a@example.com', { acr_values: ['mailto:a@example.com'] }],
  ])('sends %s as the API takes it', async (text, policy) => {
    expect(await patched(text)).toEqual({ step_up: { integrity_acknowledge: policy } })
  })

  it('takes several operations, and none for no policy at all', async () => {
    expect(await patched('a=x@1h', 'b=y')).toEqual({
      step_up: { a: { acr_values: ['x'], max_age: 3600 }, b: { acr_values: ['y'] } },
    })
    expect(await patched('none')).toEqual({ step_up: {} })
  })

  it.each([
    'integrity_acknowledge',
    'integrity_acknowledge=',
    'integrity_acknowledge=@15m',
    'integrity_acknowledge=a,,b',
  ])('sends nothing of %s', async (text) => {
    expect(await patched(text)).toContain('--step-up needs ')
  })
})

describe('ctl login', () => {
  const cli = useStubbedCli()

  it('asks for acr values and an age where they are given', async () => {
    await cli.run('login --no-browser --acr-values mfa,phr --max-age 15m', {
      'POST /v1/auth/device-code': { body: CODES },
      'POST /v1/auth/device-token': refused(400, 'access_denied', 'x'),
    })
    expect(cli.stub?.seen[0]?.body).toMatchObject({ acr_values: 'mfa phr', max_age: 900 })
    expect(cli.stub?.seen[0]?.body).not.toHaveProperty('token_expires_in_seconds')
  })
})

describe('another command that is refused for want of a stronger sign-in', () => {
  const cli = useStubbedCli({ CTL_TOKEN: OLD })

  it('says how to sign in that way', async () => {
    const { exitCode, stderr } = await cli.run('nodes list', { 'GET /v1/nodes': challenge })
    expect(exitCode).toBe(4)
    expect(stderr).toContain('Sign in as it asks: ctl login --acr-values mfa,phr --max-age 300s')
  })
})
