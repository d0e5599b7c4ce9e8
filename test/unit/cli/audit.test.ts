import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createCliHome, type CliHome, type CliResult } from '../../support/cli/cli-run.ts'
import { refused, startStub, type StubRoutes, type StubServer } from '../../support/cli/stub-server.ts'
import { FLEET, ID, KEY_SET, TOKEN } from '../../golden/fleet.ts'

describe('ctl audit', () => {
  let home: CliHome
  let stub: StubServer
  afterEach(async () => {
    home.remove()
    await stub.close()
  })

  async function start(routes: StubRoutes = {}): Promise<void> {
    stub = await startStub({ ...FLEET, ...routes })
    home = createCliHome({ CTL_URL: stub.url, CTL_TOKEN: TOKEN })
  }

  const looks = () => stub.seen.filter(({ path }) => path === '/v1/audit')

  describe('tail', () => {
    const row = (number: number, correlation = 'c') => ({
      id: `019c1a10-0000-7000-8000-00000000000${number}`,
      at: `2026-02-01T11:58:0${number}.000Z`,
      domain_id: ID.domain,
      subject: 'user:a',
      relation: 'node.list',
      object: 'platform:main',
      outcome: 'granted',
      reason: '',
      correlation_id: correlation,
      context: {},
    })

    /** Ends the run with Ctrl-C when it looks for the last time; each look has what the server then has, the newest first. */
    async function follow(
      answers: readonly (readonly object[] | 'away')[],
      argv: readonly string[] = [],
      isTty = false,
    ): Promise<CliResult> {
      const interruption = new AbortController()
      let look = 0
      await start({
        'GET /v1/audit': ({ headers, query }) => {
          const answer = answers[look]
          look += 1
          if (look >= answers.length) interruption.abort()
          if (answer === 'away') return refused(503, 'datastore_unavailable', 'The datastore is away.')
          const own = String(headers['x-correlation-id'])
          const rows = (answer ?? []).map((one) => ('own' in one ? row(9, own) : one))
          const items = rows.filter((one) => !('at' in one) || String(one.at) >= (query.get('since') ?? ''))
          return { body: { items, next_cursor: null } }
        },
      })
      return home.run(['audit', 'tail', '--timeout', '1s', ...argv], { interrupted: interruption.signal, isTty })
    }

    it('shows what comes from now on, each row once and the oldest first, and ends with Ctrl-C', async () => {
      const { stdout, stderr, exitCode } = await follow([
        [row(1)],
        [row(1), row(0)],
        [row(3), row(2), row(1)],
        [row(3), row(2)],
        [],
      ])
      expect(stdout.split('\n').map((line) => line && (JSON.parse(line) as { at: string }).at.slice(17, 19))).toEqual([
        '02',
        '03',
        '',
      ])
      expect(stderr).toBe('Stopped. Nothing is lost: every row stays in the audit log. See: ctl audit list\n')
      expect(exitCode).toBe(130)
    })

    it('shows a row that becomes visible late', async () => {
      const { stdout } = await follow([[row(1)], [row(1)], [row(4), row(1)], [row(4), row(3), row(1)], []])
      expect(stdout.match(/11:58:0\d/g)).toEqual(['11:58:04', '11:58:03'])
    })

    it('does not show its own looks', async () => {
      const { stdout } = await follow([[row(1)], [row(1)], [{ own: true }, row(2)], []])
      expect(stdout.match(/11:58:0\d/g)).toEqual(['11:58:02'])
    })

    it('begins where it is told to, with the filters of the list', async () => {
      const argv = ['--since', '10m', '--outcome', 'granted']
      const { stdout } = await follow([[row(2), row(1)], []], argv)
      expect(stdout.match(/11:58:0\d/g)).toEqual(['11:58:01', '11:58:02'])
      const [first] = looks()
      expect([first?.query.get('since'), first?.query.get('outcome')]).toEqual(['2026-02-01T11:50:00.000Z', 'granted'])
    })

    it('goes on once the server can be asked again, and says that it could not', async () => {
      const { stdout, stderr } = await follow([
        [row(1)],
        [row(1)],
        'away',
        'away',
        'away',
        'away',
        'away',
        [row(2)],
        [],
      ])
      expect(stdout.match(/11:58:0\d/g)).toEqual(['11:58:02'])
      expect(stderr.match(/warning: /g)).toHaveLength(1)
    })

    it('gives a table its titles once', async () => {
      const { stdout } = await follow([[row(1)], [row(1)], [row(2)], [row(3), row(2)], []], [], true)
      expect(stdout.match(/SUBJECT/g)).toHaveLength(1)
      expect(stdout).toContain('\n11:58:03')
    })
  })

  describe('list', () => {
    const asked = () => Object.fromEntries(looks().at(-1)?.query ?? [])

    it.each([
      [['--writes'], { only: 'writes' }],
      [['--actor', 'service'], { actor: 'service' }],
      [['--actor', 'system'], { actor: 'system' }],
      [['--relation', 'node.list'], { relation: 'node.list' }],
      [['--relation', 'node.'], { relation_prefix: 'node.' }],
      [['--relation', 'node.*'], { relation_prefix: 'node.' }],
      [['--relation', 'node*'], { relation_prefix: 'node' }],
      [['--relation', 'node_endpoint.path_gate'], { relation: 'node_endpoint.path_gate' }],
      [['--relation', 'local_account.password'], { relation: 'local_account.password' }],
      [['--relation', 'audit.gap', '--writes'], { relation: 'audit.gap', only: 'writes' }],
    ])('asks with %j', async (flags, query) => {
      await start()
      expect((await home.run(['audit', 'list', ...flags])).exitCode).toBe(0)
      expect(asked()).toEqual({ domain_id: ID.domain, limit: '50', ...query })
    })

    it.each([
      ['node.lisst', 'Did you mean node.list?'],
      ['nodes.', 'Did you mean node.?'],
      ['nodes.*', 'Did you mean node.?'],
      ['authz', 'Did you mean authz.?\n'],
      ['node', 'Did you mean node.?\n'],
    ])('refuses the relation %j, which is near to a known one, and sends nothing', async (relation, hint) => {
      for (const verb of ['list', 'tail']) {
        await start()
        const { exitCode, stderr } = await home.run(['audit', verb, '--relation', relation])
        expect([exitCode, stub.seen]).toEqual([2, []])
        expect(stderr).toContain(`there is no audit relation "${relation}"`)
        expect(stderr).toContain(hint)
        home.remove()
        await stub.close()
      }
      await start()
    })

    it.each([
      ['xyzzy', { relation: 'xyzzy' }],
      ['xyzzy.', { relation_prefix: 'xyzzy.' }],
    ])('sends the relation %j, which a newer server may have, with a warning', async (relation, query) => {
      await start()
      const { exitCode, stderr } = await home.run(['audit', 'list', '--relation', relation])
      expect([exitCode, asked()]).toEqual([0, { domain_id: ID.domain, limit: '50', ...query }])
      expect(stderr).toContain(`warning: this ctl does not know the audit relation "${relation}"`)
    })

    it('asks for nothing but the rows, and shows the id of what has no name', async () => {
      const gone = '019c1a10-0000-7000-8000-0000000fffff'
      const row = { id: ID.web, at: '2026-02-01T11:58:00.000Z', subject: 'user:a', object: `node:${gone}` }
      const named = { ...row, relation: 'node.list', outcome: 'granted', subject_name: null, object_name: null }
      await start({ 'GET /v1/audit': { body: { items: [named], next_cursor: null } } })
      const { stdout } = await home.run(['audit', 'list', '--domain', ID.domain], { isTty: true, columns: 200 })
      expect(stdout).toContain('node:000fffff')
      expect(stub.seen.map(({ path }) => path)).toEqual(['/v1/audit'])
    })

    it.each([
      ['Ada', '--actor takes user, service, node, system, or one subject; not "Ada"', 'Try --actor user:Ada.'],
      ['me', '--actor with a name and --subject are the same', ''],
    ])('refuses the actor %s beside a subject, and sends nothing', async (actor, sentence, hint) => {
      await start()
      const { exitCode, stderr } = await home.run(['audit', 'list', '--actor', actor, '--subject', 'me'])
      expect([exitCode, stub.seen]).toEqual([2, []])
      expect(stderr).toContain(sentence)
      expect(stderr).toContain(hint)
    })

    it.each([
      ['--subject', 'service:build', 'subject', `serviceaccount:${ID.build}`],
      ['--subject', 'me', 'subject', `serviceaccount:${ID.me}`],
      ['--actor', 'service:build', 'subject', `serviceaccount:${ID.build}`],
      ['--actor', 'me', 'subject', `serviceaccount:${ID.me}`],
      ['--object', 'node:web-1', 'object', `node:${ID.web}`],
      ['--object', 'platform', 'object', 'platform:main'],
    ])('looks up the name in %s %s', async (flag, typed, member, sent) => {
      await start({ 'GET /v1/audit': () => ({ body: { items: [], next_cursor: null } }) })
      expect((await home.run(['audit', 'list', flag, typed])).exitCode).toBe(0)
      expect(looks().map(({ query }) => query.get(member))).toEqual([sent])
    })

    it.each([
      ['--subject', 'service:nobody', 3, 'there is no service-identity "nobody"'],
      ['--object', 'node:gone', 3, 'there is no node "gone"'],
      ['--subject', 'build', 2, 'Did you mean user:build, service:build or group:build?'],
    ])('refuses %s %s, and asks for no rows', async (flag, typed, exitCode, sentence) => {
      for (const verb of ['list', 'tail']) {
        await start()
        const result = await home.run(['audit', verb, flag, typed])
        expect([result.exitCode, looks()]).toEqual([exitCode, []])
        expect(result.stderr).toContain(sentence)
        home.remove()
        await stub.close()
      }
      await start()
    })

    it('shows names beside the ends of ids to a person, and whole ids in a pipe and with -o wide', async () => {
      const row = {
        id: ID.build,
        at: '2026-02-01T11:58:00.000Z',
        domain_id: ID.domain,
        subject: `serviceaccount:${ID.build}`,
        relation: 'node.read',
        object: `node:${ID.web}`,
        outcome: 'granted',
        reason: 'granted',
        correlation_id: 'c1',
        context: {},
        subject_name: 'Build',
        object_name: 'web-1',
      }
      await start({ 'GET /v1/audit': () => ({ body: { items: [row], next_cursor: null } }) })
      const people = await home.run(['audit', 'list'], { isTty: true })
      expect(people.stdout).toContain(`service:Build (${ID.build.slice(-8)})`)
      expect(people.stdout).toContain(`node:web-1 (${ID.web.slice(-8)})`)
      const others = [home.run(['audit', 'list']), home.run(['audit', 'list', '-o', 'wide'], { isTty: true })]
      for (const { stdout } of await Promise.all(others)) {
        expect(stdout).toContain(`serviceaccount:${ID.build}`)
        expect(stdout).toContain(`node:${ID.web}`)
      }
    })
  })

  describe('export', () => {
    beforeEach(() => start())
    const run = (...argv: string[]) => home.run(['audit', ...argv])

    it('is whole or not there', async () => {
      writeFileSync(join(home.home, 'audit.jsonl'), 'before')
      await stub.close()
      const before = await run('export', '--output', 'audit.jsonl', '--domain', ID.domain, '--timeout', '1s')
      expect(before.exitCode).toBe(8)
      expect(readFileSync(join(home.home, 'audit.jsonl'), 'utf8')).toBe('before')
      expect(readdirSync(home.home).filter((name) => name.includes('part'))).toEqual([])
      await start()
      const { exitCode } = await run('export', '--output', 'audit.jsonl')
      expect(exitCode).toBe(0)
      const types = readFileSync(join(home.home, 'audit.jsonl'), 'utf8').match(/(?<="type":")\w+/g)
      expect(types).toEqual(['header', 'row', 'row', 'row', 'head', 'end'])
    })

    it('keeps the end that the first page named', async () => {
      await run('export')
      const asked = stub.seen.flatMap(({ path, query }) => (path.endsWith('export') ? [Object.fromEntries(query)] : []))
      expect(asked).toEqual([
        { domain_id: ID.domain, rows: '1000' },
        { domain_id: ID.domain, from_seq: '3', through_seq: '3', rows: '1000' },
      ])
    })

    it('is broken for whoever changed a word of it', async () => {
      const file = join(home.home, 'audit.jsonl')
      await run('export', '--output', 'audit.jsonl')
      writeFileSync(join(home.home, 'keys.json'), KEY_SET)
      expect((await run('verify', 'audit.jsonl', '--keys', 'keys.json')).exitCode).toBe(0)
      writeFileSync(file, readFileSync(file, 'utf8').replace('"correlation_id":"c-2"', '"correlation_id":"c-9"'))
      const { exitCode, stderr } = await run('verify', 'audit.jsonl', '--keys', 'keys.json')
      expect(exitCode).toBe(10)
      expect(stderr).toContain(
        'the chain is broken: line 3: row 2 (01935b5e-8f3a-7c61-9d0a-000000000002) is not what was sealed',
      )
    })
  })

  describe('verify', () => {
    it('is broken where the chain changes between two calls', async () => {
      const answer = FLEET['GET /v1/audit/verify']
      if (typeof answer !== 'function') throw new Error('the fleet has no chain')
      await start({
        'GET /v1/audit/verify': (request) => {
          const reply = answer(request)
          return request.query.has('from_seq')
            ? { body: { ...(reply.body as object), start: { seq: 2, hash: 'f'.repeat(64), signed: null } } }
            : reply
        },
      })
      const { exitCode, stderr } = await home.run(['audit', 'verify'])
      expect(exitCode).toBe(10)
      expect(stderr).toContain('the chain changed after row 2 while it was looked at')
    })
  })
})
