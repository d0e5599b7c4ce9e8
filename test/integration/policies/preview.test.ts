import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Answer } from '../../support/server/control-plane.ts'
import { STORES } from '../../support/datastores/stores.ts'
import { startPolicedFleet, type PolicedFleet } from '../../support/fleet/policed-fleet.ts'
import { rowsOfPolicies } from './rows-of-policies.ts'

const NOWHERE = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'

describe.each(STORES)('What policies do on the $name store', (store) => {
  describe.skipIf(store.missing)('asked without changing them', () => {
    let fleet: PolicedFleet
    let domainId: string
    let web: string
    let db: string
    let admin: string
    beforeAll(async () => {
      fleet = await startPolicedFleet(store)
      domainId = await fleet.domain()
      await fleet.define(domainId, 'role')
      web = await fleet.labelledNode({ domainId }, { role: 'web' })
      db = await fleet.labelledNode({ domainId }, { role: 'db' })
      admin = await fleet.labelledNode({ domainId }, { role: 'admin' })
    })
    afterAll(() => fleet.stop())

    const codeOf = ({ status, body }: Answer) => [status, body['code']]
    const preview = (...policies: readonly object[]) =>
      fleet.call(fleet.root, `POST /v1/domains/${domainId}/policies/preview`, { policies })
    const reach = (query: string, domain = domainId) =>
      fleet.call(fleet.root, `GET /v1/domains/${domain}/reachability-check?${query}`)
    const pair = (from: string, to: string) => ({
      from_node_id: from,
      from: expect.any(String),
      to_node_id: to,
      to: expect.any(String),
    })
    const sorted = (pairs: readonly ReturnType<typeof pair>[]) =>
      pairs.toSorted((a, b) => (a.from_node_id + a.to_node_id < b.from_node_id + b.to_node_id ? -1 : 1))

    const closed = { slug: 'db', selector: 'role=db', isolates: ['ingress'], rules: [] }
    const rule = { direction: 'ingress', peers: 'role=web', protocol: 'tcp', ports: ['5432'] }

    describe('PreviewPolicies', () => {
      it('counts matched nodes and ordered pairs gained and lost, and stores nothing', async () => {
        const before = await rowsOfPolicies(fleet.db)
        const answer = await preview({ ...closed, rules: [rule] }, { slug: 'none', selector: 'role=nobody', rules: [] })
        expect(answer.status).toBe(200)
        expect(answer.body).toEqual({
          policies: [
            {
              slug: 'db',
              matched_count: 1,
              sample: [{ node_id: db, name: expect.any(String) }],
              fingerprint: null,
            },
            { slug: 'none', matched_count: 0, sample: [], fingerprint: expect.stringMatching(/=$/) },
          ],
          gained: { count: 0, sample: [] },
          // Web keeps one port of all that it had.
          lost: { count: 2, sample: sorted([pair(web, db), pair(admin, db)]) },
          failures: [],
          vacuous: [],
        })
        expect(await rowsOfPolicies(fleet.db)).toEqual(before)
      })

      it('compares with the policies in force, which it replaces or deletes by their slugs', async () => {
        const { id } = await fleet.policy(domainId, closed)
        expect((await preview({ ...closed, rules: [rule] })).body).toMatchObject({
          gained: { count: 1, sample: [pair(web, db)] },
          lost: { count: 0, sample: [] },
        })
        const without = await preview({ slug: 'db', delete: true })
        expect(without.body).toMatchObject({
          policies: [{ slug: 'db', matched_count: 0, sample: [], fingerprint: null }],
          gained: { count: 2, sample: sorted([pair(web, db), pair(admin, db)]) },
        })
        await fleet.call(fleet.root, `DELETE /v1/policies/${id}`)
      })

      it('counts a pair for each flow more and each flow less', async () => {
        const { id } = await fleet.policy(domainId, { ...closed, rules: [rule] })
        const counts = async (changed: object) => {
          const { body } = await preview({ ...closed, rules: [{ ...rule, ...changed }] })
          return [body['gained'], body['lost']]
        }
        const none = { count: 0, sample: [] }
        const one = { count: 1, sample: [pair(web, db)] }
        expect(await counts({})).toEqual([none, none])
        expect(await counts({ ports: ['22', '5432'] })).toEqual([one, none])
        expect(await counts({ protocol: 'any', ports: [] })).toEqual([one, none])
        expect(await counts({ ports: ['22'] })).toEqual([one, one])
        expect(await counts({ protocol: 'udp' })).toEqual([one, one])
        await fleet.call(fleet.root, `DELETE /v1/policies/${id}`)
      })

      it('runs the tests of all policies that there would be', async () => {
        const test = { from: 'role=admin', to: 'role=db', protocol: 'tcp', port: 22, expect: 'allowed' }
        const { id } = await fleet.policy(domainId, { slug: 'guard', tests: [test] })
        const none = { from: 'role=none', to: '*', protocol: 'udp', expect: 'denied' }
        const { body } = await preview({ ...closed, tests: [{ ...test, from: '*', expect: 'denied' }, none] })
        const failure = {
          policy_id: id,
          policy: 'guard',
          test: 0,
          from_node_id: admin,
          to_node_id: db,
          expect: 'allowed',
        }
        expect(body['failures']).toMatchObject([failure])
        expect(body['vacuous']).toEqual([{ policy: 'db', test: 1, selector: `domain:${domainId}/role=none` }])
        const opened = await preview({
          ...closed,
          isolates: [],
          tests: [{ ...test, from: 'role=web', expect: 'denied' }],
        })
        expect(opened.body['failures']).toMatchObject([
          { policy_id: null, policy: 'db', test: 0, from_node_id: web, to_node_id: db, expect: 'denied' },
        ])
        await fleet.call(fleet.root, `DELETE /v1/policies/${id}`)
      })

      it('answers errors of selectors with the members that have them', async () => {
        const { status, body } = await preview(
          { ...closed, selector: 'role=' },
          { ...closed, slug: 'two', rules: [{ ...rule, peers: 'rol' }] },
        )
        expect(status).toBe(200)
        expect(body).toMatchObject({
          policies: [],
          selector_errors: [
            { pointer: '/policies/0/selector', errors: [{ offset: 5, length: 0, code: 'unexpected_token' }] },
            { pointer: '/policies/1/rules/0/peers', errors: [{ offset: 0, length: 3, expected: ['role'] }] },
          ],
        })
      })

      it('refuses what a write would refuse by its shape', async () => {
        const errors = async (...policies: object[]) => {
          const answer = await preview(...policies)
          return [...codeOf(answer), answer.body['errors']]
        }
        expect(await errors({ ...closed, rules: [{ ...rule, ports: ['x'] }] })).toEqual([
          400,
          'invalid_policy',
          [{ pointer: '/policies/0/rules/0/ports/0', detail: expect.any(String) }],
        ])
        const test = { from: '*', to: '*', protocol: 'tpc', expect: 'denied' }
        expect(await errors({ ...closed, tests: [{ ...test, protocol: 'tcp' }, test] })).toEqual([
          400,
          'invalid_policy',
          [{ pointer: '/policies/0/tests/1/protocol', detail: 'must be one of tcp, udp, icmp' }],
        ])
        expect(await errors(closed, { ...closed, slug: 'b', rules: [{ ...rule, protocol: 'tpc' }] })).toEqual([
          400,
          'invalid_policy',
          [{ pointer: '/policies/1/rules/0/protocol', detail: 'must be one of any, tcp, udp, icmp' }],
        ])
        expect(await errors({ ...closed, selectr: '*' })).toEqual([
          400,
          'invalid_policy',
          [{ pointer: '/policies/0/selectr', detail: 'is not a known member' }],
        ])
        expect(await errors(closed, closed)).toEqual([
          400,
          'invalid_policy',
          [{ pointer: '/policies/1/slug', detail: 'is named twice' }],
        ])
        expect(await errors(closed, { slug: 'b', display_name: 'B' })).toEqual([
          400,
          'invalid_policy',
          [
            { pointer: '/policies/1/selector', detail: 'must be given unless delete is' },
            { pointer: '/policies/1/rules', detail: 'must be given unless delete is' },
          ],
        ])
        expect(await errors({ slug: 'b', delete: true, selector: '*', tests: [] })).toEqual([
          400,
          'invalid_policy',
          [
            { pointer: '/policies/0/selector', detail: 'must be absent where delete is given' },
            { pointer: '/policies/0/tests', detail: 'must be absent where delete is given' },
          ],
        ])
        expect(await errors({ slug: 'b', delete: false })).toEqual([
          400,
          'invalid_policy',
          [{ pointer: '/policies/0/delete', detail: 'must be one of true' }],
        ])
        expect(codeOf(await preview({ slug: 'unknown', delete: true }))).toEqual([404, 'policy_not_found'])
      })
    })

    describe('CheckReachability', () => {
      it('names the rule of each side, by its place in the rules of the policy', async () => {
        const egress = { direction: 'egress', cidrs: ['100.64.0.0/10'], protocol: 'any' }
        const other = { direction: 'ingress', peers: 'role=admin', protocol: 'icmp' }
        const one = await fleet.policy(domainId, { slug: 'db', selector: 'role=db', rules: [other, rule] })
        const two = await fleet.policy(domainId, { slug: 'web', selector: 'role=web', rules: [egress] })
        expect((await reach(`from=${web}&to=${db}&protocol=tcp&port=5432`)).body).toEqual({
          from: web,
          to: db,
          protocol: 'tcp',
          port: 5432,
          allowed: true,
          egress: { isolated: true, allowed: true, policy_id: two.id, policy: 'web', rule: 0 },
          ingress: { isolated: true, allowed: true, policy_id: one.id, policy: 'db', rule: 1 },
        })
        expect((await reach(`from=${admin}&to=${db}&protocol=tcp`)).body).toEqual({
          from: admin,
          to: db,
          protocol: 'tcp',
          port: null,
          allowed: false,
          egress: { isolated: false, allowed: true },
          ingress: { isolated: true, allowed: false, policy_id: one.id, policy: 'db' },
        })
        expect((await reach(`from=${admin}&to=${db}`)).body).toMatchObject({
          protocol: null,
          allowed: true,
          ingress: { allowed: true, rule: 0 },
        })
        for (const { id } of [one, two]) await fleet.call(fleet.root, `DELETE /v1/policies/${id}`)
      })

      it('knows no node of another Domain, and none that nobody registered', async () => {
        const foreign = await fleet.labelledNode({ domainId: await fleet.domain() })
        const answers = await Promise.all([
          reach(`from=${web}&to=${foreign}`),
          reach(`from=${web}&to=${NOWHERE}`),
          reach(`from=${foreign}&to=${web}`),
        ])
        const rest = answers.map(({ body }) => ({ ...body, correlation_id: '' }))
        expect(answers.map(codeOf)).toEqual([0, 1, 2].map(() => [404, 'node_not_found']))
        expect(new Set(rest.map((body) => JSON.stringify(body))).size).toBe(1)
      })

      it.each([
        ['from=x&to=x', 'invalid_node_id'],
        ['protocol=any', 'invalid_protocol'],
        ['protocol=icmp&port=1', 'invalid_protocol'],
        ['protocol=tcp&port=0', 'port_out_of_range'],
        ['protocol=tcp&port=65536', 'port_out_of_range'],
        ['port=http', 'port_out_of_range'],
      ])('refuses %s', async (query, code) => {
        const nodes = query.startsWith('from') ? '' : `from=${web}&to=${db}&`
        expect(codeOf(await reach(nodes + query))).toEqual([400, code])
      })
    })
  })
})
