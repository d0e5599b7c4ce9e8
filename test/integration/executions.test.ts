import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Enrolled } from '../support/fleet/fleet.ts'
import { STORES } from '../support/datastores/stores.ts'
import { startTaskedFleet, type TaskedFleet } from '../support/fleet/tasked-fleet.ts'

const NOWHERE = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'
const DAY_MS = 86_400_000

describe.each(STORES)('Executions on the $name store', (store) => {
  describe.skipIf(store.missing)('served over HTTP', () => {
    let fleet: TaskedFleet
    let startMs: number
    let domain: string
    let node: Enrolled
    beforeAll(async () => {
      fleet = await startTaskedFleet(store)
      startMs = fleet.clock.nowMs
    })
    beforeEach(async () => {
      fleet.clock.nowMs = startMs
      domain = await fleet.domain()
      node = await fleet.enrol(domain)
    })
    afterAll(() => fleet.stop())

    const path = (id = '') => `/v1/nodes/${node.node_id}/executions${id === '' ? '' : `/${id}`}`
    const asked = async (members = {}, of = node) => String((await fleet.ask(of, members)).body['execution_id'])
    const show = (id: string, as = fleet.root) => fleet.call(as, `GET ${path(id)}`)
    const cancel = (id: string, as = fleet.root) => fleet.call(as, `POST ${path(id)}/cancel`)
    const statusOf = async (id: string) => (await show(id)).body['status']
    const own = async () => (await fleet.revisions(node)).own
    const rows = () => fleet.db.selectFrom('executions').selectAll().where('domain_id', '=', domain).execute()
    const walk = async (id: string, ...statuses: string[]) => {
      for (const status of statuses) expect((await fleet.report(node, id, { status })).status).toBe(204)
    }
    const setTarget = (target: number) =>
      fleet.db
        .insertInto('capacity_targets')
        .values({ domain_id: domain, dimension: 'action_executions', target: String(target) })
        .execute()
    const declare = (names: readonly string[]) =>
      fleet.db
        .insertInto('node_capabilities')
        .values({
          node_id: node.node_id,
          binary_version: '1',
          binary_checksum: Buffer.alloc(32),
          ssh_host_key_fingerprint: null,
          hooks: JSON.stringify(names.map((name) => ({ name, checksum: 'ab'.repeat(32) }))),
          updated_at: new Date(startMs),
        })
        .execute()

    describe('CreateExecution', () => {
      it('asks for it for five minutes, tells the node, changes its state and is audited', async () => {
        const before = await own()
        const parameters = { b: [1, null], a: { x: 'é' } }
        const answer = await fleet.ask(node, { parameters })
        const id = String(answer.body['execution_id'])
        expect(answer).toMatchObject({ status: 201 })
        expect(answer.body).toEqual({
          execution_id: id,
          node_id: node.node_id,
          action: 'ping',
          type: 'builtin',
          parameters,
          status: 'pending',
          requested_by: fleet.root,
          requested_at: '2026-03-01T08:00:00.000Z',
          expires_at: '2026-03-01T08:05:00.000Z',
          started_at: null,
          finished_at: null,
          exit_code: null,
          output: null,
          error: null,
        })
        expect(await rows()).toMatchObject([{ id, parameters: '{"a":{"x":"é"},"b":[1,null]}' }])
        expect(await fleet.outbox(answer)).toEqual([
          {
            event: 'execution_requested',
            domain_id: domain,
            aggregate: `node:${node.node_id}`,
            payload: {
              node_id: node.node_id,
              execution_id: id,
              action: 'ping',
              type: 'builtin',
              parameters,
              status: 'pending',
              requested_at: '2026-03-01T08:00:00.000Z',
              expires_at: '2026-03-01T08:05:00.000Z',
            },
          },
        ])
        expect(await fleet.audit(answer)).toEqual({
          relation: 'execution.create',
          object: `node:${node.node_id}`,
          outcome: 'granted',
          reason: 'granted',
          domainId: domain,
        })
        expect(await own()).toBe(before + 1)
        expect(await show(id)).toMatchObject({ status: 200, body: answer.body })
      })

      it('takes a lifetime, and has no parameters where none were given', async () => {
        const answer = await fleet.ask(node, { expires_in_seconds: 86_400 })
        expect(answer.body).toMatchObject({ expires_at: '2026-03-02T08:00:00.000Z' })
        expect(answer.body).not.toHaveProperty('parameters')
      })

      it.each([
        ['an unknown built-in action', { action: 'format_disk' }],
        ['a hook where none is declared', { action: 'drain', type: 'hook' }],
      ])('refuses %s', async (_what, members) => {
        const before = await own()
        const answer = await fleet.ask(node, members)
        expect(answer).toMatchObject({ status: 400, body: { code: 'unknown_action' } })
        expect(await rows()).toEqual([])
        expect(await fleet.outbox(answer)).toEqual([])
        expect(await own()).toBe(before)
        expect(await fleet.audit(answer)).toMatchObject({ outcome: 'invariant_violation', reason: 'unknown_action' })
      })

      it('finds a hook that this node declares without being told the type, after the built-in actions', async () => {
        await declare(['drain', 'ping'])
        const typeFor = async (action: string) => (await fleet.ask(node, { action, type: undefined })).body['type']
        expect([await typeFor('drain'), await typeFor('ping')]).toEqual(['hook', 'builtin'])
        const unknown = await fleet.ask(node, { action: 'format_disk', type: undefined })
        expect(unknown.body['errors']).toEqual([
          {
            pointer: '/action',
            detail: expect.stringMatching(/^must be one of ping, .*, or a hook of the node: drain, ping$/),
          },
        ])
      })

      it('takes a hook that this node declares, and no name of one kind for the other', async () => {
        await declare(['drain', 'ping'])
        expect((await fleet.ask(node, { action: 'drain', type: 'hook' })).status).toBe(201)
        expect((await fleet.ask(node, { action: 'ping', type: 'hook' })).status).toBe(201)
        expect((await fleet.ask(node, { action: 'drain', type: 'builtin' })).status).toBe(400)
        const other = await fleet.enrol(domain)
        expect((await fleet.ask(other, { action: 'drain', type: 'hook' })).status).toBe(400)
      })

      it.each([
        ['no action', { action: '' }],
        ['a type that there is not', { type: 'script' }],
        ['less than ten seconds', { expires_in_seconds: 9 }],
        ['more than a day', { expires_in_seconds: 86_401 }],
        ['parameters that are no object', { parameters: [] }],
        ['an unknown member', { command: 'ls' }],
      ])('refuses %s', async (_what, members) => {
        expect(await fleet.ask(node, members)).toMatchObject({ status: 400, body: { code: 'invalid_body' } })
        expect(await rows()).toEqual([])
      })

      it.each([
        ['a number that no program can hold', '{"n":1e400}', 400],
        ['parameters nested 33 deep', `{"n":${'['.repeat(32)}${']'.repeat(32)}}`, 400],
        ['parameters nested 4,000 deep', `{"n":${'['.repeat(4_000)}${']'.repeat(4_000)}}`, 400],
        ['parameters nested 32 deep', `{"n":${'['.repeat(31)}${']'.repeat(31)}}`, 201],
      ])('answers %s as it must', async (_what, parameters, status) => {
        const answer = await fetch(`${fleet.url}${path()}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${fleet.root}`, 'content-type': 'application/json' },
          body: `{"action":"ping","type":"builtin","parameters":${parameters}}`,
        })
        expect(answer.status).toBe(status)
        expect(await rows()).toHaveLength(status === 201 ? 1 : 0)
      })

      it('says to those who could operate it that the node is gone, and to others no more than of a foreign one', async () => {
        const operator = await fleet.holder(domain, 'operator', `domain:${domain}`)
        const elsewhere = await fleet.enrol(await fleet.domain())
        const gone = { ...node, node_id: NOWHERE }
        for (const of of [gone, elsewhere])
          expect(await fleet.ask(of, {}, operator)).toMatchObject({ status: 403, body: { code: 'permission_denied' } })
        expect((await fleet.ask(node, {}, operator)).status).toBe(201)
        const widow = await fleet.holder(domain, 'operator', `node:${NOWHERE}`)
        for (const answer of [
          await fleet.ask(gone, {}, widow),
          await fleet.call(widow, `GET /v1/nodes/${NOWHERE}/executions`),
        ])
          expect(answer).toMatchObject({ status: 404, body: { code: 'node_not_found' } })
      })

      it('needs node-operate', async () => {
        const viewer = await fleet.holder(domain, 'viewer', `domain:${domain}`)
        const answer = await fleet.ask(node, {}, viewer)
        expect(answer).toMatchObject({
          status: 403,
          body: { missing_relation: { object: `node:${node.node_id}`, relation: 'node-operate', subject: viewer } },
        })
        expect(await rows()).toEqual([])
      })
    })

    describe('the capacity of a Domain', () => {
      it('refuses with the dimension and Retry-After when as many are under way, until one has ended', async () => {
        await setTarget(2)
        const [first] = [await asked(), await asked({}, await fleet.enrol(domain))]
        const before = await own()
        const answer = await fleet.ask(node)
        expect(answer).toMatchObject({
          status: 429,
          body: { code: 'capacity_exceeded', dimension: 'action_executions' },
        })
        expect(answer.body).not.toHaveProperty('retry_after_seconds')
        expect(answer.headers.get('retry-after')).toBe('60')
        expect(await rows()).toHaveLength(2)
        expect(await fleet.outbox(answer)).toEqual([])
        expect(await own()).toBe(before)
        expect((await fleet.ask(await fleet.enrol(await fleet.domain()))).status).toBe(201)
        await cancel(first)
        expect((await fleet.ask(node)).status).toBe(201)
        expect((await fleet.ask(node)).status).toBe(429)
      })

      it('says when enough of them have run out of time, five seconds for their end included', async () => {
        await setTarget(3)
        const retryAfter = async () => (await fleet.ask(node)).headers.get('retry-after')
        for (const expires_in_seconds of [40, 20, 30]) await asked({ expires_in_seconds })
        expect(await retryAfter()).toBe('25')
        fleet.wait(24_500)
        expect(await retryAfter()).toBe('5')
        await fleet.sweep()
        expect((await fleet.ask(node)).status).toBe(201)
      })

      it('says when those beyond a lowered target have run out of time as well', async () => {
        for (const expires_in_seconds of [40, 20, 30, 600]) await asked({ expires_in_seconds })
        await setTarget(2)
        expect((await fleet.ask(node)).headers.get('retry-after')).toBe('45')
      })

      it('lets 5 of 20 callers at once pass where the target is 5, on several nodes', async () => {
        await setTarget(5)
        const nodes = [node, await fleet.enrol(domain), await fleet.enrol(domain)]
        const answers = await Promise.all(
          Array.from({ length: 20 }, (_, n) => fleet.ask(nodes[n % nodes.length] ?? node)),
        )
        const statuses = answers.map(({ status }) => status).toSorted()
        expect(statuses).toEqual([...Array(5).fill(201), ...Array(15).fill(429)])
        expect(await rows()).toHaveLength(5)
      })

      it('has no bound with a target of 0, and 1,000 where nothing is set', async () => {
        const at = new Date(startMs)
        const underWay = Array.from({ length: 1_000 }, () => ({
          id: fleet.ids.next(),
          node_id: node.node_id,
          domain_id: domain,
          action: 'ping',
          type: 'builtin' as const,
          status: 'started' as const,
          requested_by: 'user:x',
          requested_at: at,
          expires_at: at,
          parameters: null,
          started_at: null,
          finished_at: null,
          exit_code: null,
          output: null,
          error: null,
        }))
        await fleet.db.insertInto('executions').values(underWay.slice(1)).execute()
        expect((await fleet.ask(node)).status).toBe(201)
        expect((await fleet.ask(node)).status).toBe(429)
        await setTarget(0)
        expect((await fleet.ask(node)).status).toBe(201)
      })
    })

    describe('ListExecutions and GetExecution', () => {
      it('list the node’s executions alone, and by status', async () => {
        const ids: string[] = []
        for (let n = 0; n < 2; n++) ids.unshift(await asked())
        await asked({}, await fleet.enrol(domain))
        const { items } = (await fleet.call(fleet.root, `GET ${path()}`)).body as { items: { execution_id: string }[] }
        expect(items.map(({ execution_id }) => execution_id)).toEqual(ids)
        const [newest = ''] = ids
        await walk(newest, 'ack')
        const acked = await fleet.call(fleet.root, `GET ${path()}?status=ack`)
        expect(acked).toMatchObject({ status: 200, body: { items: [{ execution_id: newest }], next_cursor: null } })
        expect(await fleet.audit(acked)).toMatchObject({
          relation: 'execution.list',
          outcome: 'granted',
          domainId: domain,
        })
      })

      it('refuse a status that there is not', async () => {
        expect(await fleet.call(fleet.root, `GET ${path()}?status=done`)).toMatchObject({
          status: 400,
          body: { code: 'invalid_execution_status' },
        })
      })

      it('know no execution of another node', async () => {
        const id = await asked({}, await fleet.enrol(domain))
        for (const answer of [await show(id), await show(NOWHERE), await cancel(id), await cancel(NOWHERE)])
          expect(answer).toMatchObject({ status: 404, body: { code: 'execution_not_found' } })
      })

      it('refuse malformed ids', async () => {
        expect((await show('x')).body['code']).toBe('invalid_execution_id')
        expect((await fleet.call(fleet.root, 'GET /v1/nodes/x/executions')).body['code']).toBe('invalid_node_id')
      })

      it('need node-operate', async () => {
        const id = await asked()
        const viewer = await fleet.holder(domain, 'viewer', `domain:${domain}`)
        for (const answer of [
          await show(id, viewer),
          await fleet.call(viewer, `GET ${path()}`),
          await cancel(id, viewer),
        ])
          expect(answer).toMatchObject({ status: 403, body: { missing_relation: { relation: 'node-operate' } } })
        expect(await statusOf(id)).toBe('pending')
      })
    })

    describe('CancelExecution', () => {
      it.each([
        ['pending', []],
        ['ack', ['ack']],
        ['started', ['ack', 'started']],
      ])('ends one that is %s, tells the node and changes its state', async (_from, statuses) => {
        const id = await asked()
        await walk(id, ...statuses)
        const before = await own()
        fleet.wait(1_000)
        const answer = await cancel(id)
        expect(answer).toMatchObject({
          status: 200,
          body: { execution_id: id, status: 'cancelled', finished_at: '2026-03-01T08:00:01.000Z', exit_code: null },
        })
        expect(await fleet.outbox(answer)).toEqual([
          {
            event: 'execution_cancelled',
            domain_id: domain,
            aggregate: `node:${node.node_id}`,
            payload: { node_id: node.node_id, execution_id: id },
          },
        ])
        expect(await fleet.audit(answer)).toMatchObject({
          relation: 'execution.cancel',
          outcome: 'granted',
          domainId: domain,
        })
        expect(await own()).toBe(before + 1)
      })

      it('and the node’s own end exclude each other, whoever is first', async () => {
        const id = await asked()
        await walk(id, 'ack', 'started')
        const before = await own()
        const ends = [() => cancel(id), () => fleet.report(node, id, { status: 'succeeded' })]
        const answers = await Promise.all(Array.from({ length: 8 }, (_, n) => (ends[n % 2] ?? cancel)(id)))
        const status = await statusOf(id)
        const passed = answers.map((answer) => answer.status).toSorted()
        // A repetition of the end that came first is taken for said.
        const expected =
          status === 'cancelled' ? [200, ...Array(7).fill(409)] : [...Array(4).fill(204), ...Array(4).fill(409)]
        expect(passed).toEqual(expected)
        expect(await own()).toBe(before + 1)
      })

      it('refuses an end', async () => {
        const id = await asked()
        await walk(id, 'ack', 'started', 'failed')
        const before = [await own(), await rows()]
        const answer = await cancel(id)
        expect(answer).toMatchObject({
          status: 409,
          body: {
            code: 'illegal_transition',
            errors: [{ pointer: '/status', detail: 'is failed, after which nothing comes' }],
          },
        })
        expect(await fleet.outbox(answer)).toEqual([])
        expect([await own(), await rows()]).toEqual(before)
      })
    })

    describe('PostExecutionCallback', () => {
      it('goes from pending to ack to started to an end, which keeps what the node says', async () => {
        const id = await asked()
        await fleet.report(node, id, { status: 'ack', output: 'too early', exit_code: 3 })
        expect((await show(id)).body).toMatchObject({ status: 'ack', output: null, exit_code: null, started_at: null })
        fleet.wait(1_000)
        await walk(id, 'started')
        fleet.wait(1_000)
        const before = await own()
        const end = { status: 'failed', exit_code: -1, output: 'no', error: 'none' }
        const answer = await fleet.report(node, id, end)
        expect(answer.status).toBe(204)
        expect((await show(id)).body).toMatchObject({
          ...end,
          started_at: '2026-03-01T08:00:01.000Z',
          finished_at: '2026-03-01T08:00:02.000Z',
        })
        expect(await fleet.outbox(answer)).toEqual([])
        expect(await own()).toBe(before + 1)
        expect(await fleet.audit(answer)).toEqual({
          relation: 'execution.advance',
          object: `node:${node.node_id}`,
          outcome: 'granted',
          reason: 'granted',
          domainId: domain,
        })
      })

      it('leaves a node that had pulled its state up to date: it knows what it said', async () => {
        const id = await asked()
        const { own: revision } = await fleet.revisions(node)
        await fleet.db
          .updateTable('node_heartbeats')
          .set({ pulled_node_revision: String(revision) })
          .where('node_id', '=', node.node_id)
          .execute()
        await walk(id, 'ack')
        expect(await fleet.revisions(node)).toEqual({ own: revision + 1, pulled: revision + 1 })
      })

      it('takes a repetition for said, and changes nothing', async () => {
        const id = await asked()
        await walk(id, 'ack', 'started', 'succeeded')
        const before = [await own(), await rows()]
        fleet.wait(1_000)
        expect((await fleet.report(node, id, { status: 'succeeded', output: 'again' })).status).toBe(204)
        expect([await own(), await rows()]).toEqual(before)
      })

      it.each([
        ['started', []],
        ['succeeded', []],
        ['failed', ['ack']],
        ['cancelled', ['ack']],
        ['ack', ['ack', 'started']],
        ['ack', ['ack', 'started', 'succeeded']],
        ['failed', ['ack', 'started', 'succeeded']],
      ])('refuses %s after [%s]', async (status, said) => {
        const id = await asked()
        await walk(id, ...said)
        const before = [await own(), await rows()]
        const answer = await fleet.report(node, id, { status })
        expect(answer).toMatchObject({ status: 409, body: { code: 'illegal_transition' } })
        expect([await own(), await rows()]).toEqual(before)
        expect(await fleet.audit(answer)).toMatchObject({
          outcome: 'invariant_violation',
          reason: 'illegal_transition',
        })
      })

      it('after a cancellation takes the node’s agreement and nothing else', async () => {
        const id = await asked()
        await walk(id, 'ack', 'started')
        await cancel(id)
        expect((await fleet.report(node, id, { status: 'cancelled' })).status).toBe(204)
        expect((await fleet.report(node, id, { status: 'succeeded' })).body['code']).toBe('illegal_transition')
        expect(await statusOf(id)).toBe('cancelled')
      })

      it.each([
        ['a status that nodes do not set', { status: 'timeout' }],
        ['pending', { status: 'pending' }],
        ['no status', {}],
        ['more than 8 KiB of output', { status: 'ack', output: 'é'.repeat(4_097) }],
        ['more than 1 KiB of error', { status: 'ack', error: 'x'.repeat(1_025) }],
        ['an exit code that is no whole number', { status: 'ack', exit_code: 1.5 }],
        ['an unknown member', { status: 'ack', signal: 9 }],
      ])('refuses %s', async (_what, body) => {
        const id = await asked()
        expect(await fleet.report(node, id, body)).toMatchObject({ status: 400, body: { code: 'invalid_body' } })
        expect(await statusOf(id)).toBe('pending')
      })

      it('keeps 8 KiB of output', async () => {
        const id = await asked()
        await walk(id, 'ack', 'started')
        const output = 'é'.repeat(4_096)
        await fleet.report(node, id, { status: 'succeeded', output })
        expect((await show(id)).body['output']).toBe(output)
      })

      it('is the node’s own: another one’s key is refused, another one’s execution unknown', async () => {
        const id = await asked()
        const other = await fleet.enrol(domain)
        const refused = await fleet.call(other.nsk, `POST ${path(id)}`, { status: 'ack' })
        expect(refused).toMatchObject({ status: 403, body: { code: 'nsk_node_mismatch' } })
        expect(await fleet.audit(refused)).toMatchObject({ outcome: 'permission_denied', reason: 'nsk_node_mismatch' })
        for (const unknown of [id, NOWHERE])
          expect(await fleet.report(other, unknown, { status: 'ack' })).toMatchObject({
            status: 404,
            body: { code: 'execution_not_found' },
          })
        expect((await fleet.call(fleet.root, `POST ${path(id)}`, { status: 'ack' })).status).toBe(401)
        expect(await statusOf(id)).toBe('pending')
      })

      it('is unknown after the node is gone, with its executions', async () => {
        const id = await asked()
        await fleet.call(fleet.root, `DELETE /v1/nodes/${node.node_id}`)
        expect(await fleet.report(node, id, { status: 'ack' })).toMatchObject({
          status: 401,
          body: { code: 'unauthorized' },
        })
        expect(await rows()).toEqual([])
      })

      it('needs a key that is not revoked', async () => {
        const id = await asked()
        await fleet.call(fleet.root, `POST /v1/nodes/${node.node_id}/nsk/revoke`)
        expect((await fleet.report(node, id, { status: 'ack' })).body['code']).toBe('nsk_revoked')
      })
    })

    describe('time', () => {
      it('ends what was not ended, changes the nodes’ state and tells nobody', async () => {
        const other = await fleet.enrol(domain)
        const [late, started, later] = [await asked(), await asked({}, other), await asked({ expires_in_seconds: 301 })]
        await fleet.report(other, started, { status: 'ack' })
        const ended = await asked()
        await cancel(ended)
        const said = await fleet.literals()
        const before = [await own(), (await fleet.revisions(other)).own]
        fleet.wait(299_999)
        await fleet.sweep()
        expect(await statusOf(late)).toBe('pending')
        fleet.wait(1)
        await fleet.sweep()
        expect((await show(late)).body).toMatchObject({ status: 'timeout', finished_at: '2026-03-01T08:05:00.000Z' })
        const [swept] = await fleet.db.selectFrom('executions').selectAll().where('id', '=', started).execute()
        expect(swept).toMatchObject({ status: 'timeout' })
        expect([await statusOf(later), await statusOf(ended)]).toEqual(['pending', 'cancelled'])
        expect([await own(), (await fleet.revisions(other)).own]).toEqual(before.map((revision) => revision + 1))
        expect(await fleet.literals()).toEqual(said)
        expect((await fleet.report(node, late, { status: 'ack' })).body['code']).toBe('illegal_transition')
        expect((await cancel(late)).body['code']).toBe('illegal_transition')
      })

      it('ends more than one batch at once', async () => {
        const at = new Date(startMs)
        const overdue = Array.from({ length: 450 }, () => ({
          id: fleet.ids.next(),
          node_id: node.node_id,
          domain_id: domain,
          requested_at: at,
          expires_at: at,
          action: 'ping',
          type: 'builtin' as const,
          status: 'pending' as const,
          requested_by: 'user:x',
          parameters: null,
          started_at: null,
          finished_at: null,
          exit_code: null,
          output: null,
          error: null,
        }))
        await fleet.db.insertInto('executions').values(overdue).execute()
        await fleet.sweep()
        expect((await rows()).filter(({ status }) => status === 'timeout')).toHaveLength(450)
      })

      it('forgets an end after 30 days', async () => {
        const id = await asked()
        await cancel(id)
        fleet.wait(30 * DAY_MS)
        await fleet.sweep()
        expect(await statusOf(id)).toBe('cancelled')
        fleet.wait(1)
        await fleet.sweep()
        expect((await show(id)).status).toBe(404)
      })
    })
  })
})
