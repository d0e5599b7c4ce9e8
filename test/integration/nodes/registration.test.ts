import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { countingDatastore } from '../../support/datastores/counting-datastore.ts'
import { CHECKSUM, freshPublicKey, startFleet, type Fleet } from '../../support/fleet/fleet.ts'
import { STORES } from '../../support/datastores/stores.ts'

describe.each(STORES)('RegisterNode on the $name store', (store) => {
  describe.skipIf(store.missing)('served over HTTP', () => {
    let fleet: Fleet
    let domain: string
    let statements: () => number
    beforeAll(async () => {
      const open = async () => {
        const counting = countingDatastore(await store.open())
        statements = counting.statements
        return counting
      }
      fleet = await startFleet({ ...store, open })
    })
    beforeEach(async () => {
      domain = await fleet.domain()
    })
    afterAll(() => fleet.stop())

    const nodeRow = (id: unknown) =>
      fleet.db.selectFrom('nodes').selectAll().where('id', '=', String(id)).executeTakeFirstOrThrow()
    const keyRows = (id: unknown) =>
      fleet.db.selectFrom('node_secret_keys').selectAll().where('node_id', '=', String(id)).orderBy('kid').execute()
    const usesOf = async (id: string) => {
      const row = await fleet.db.selectFrom('join_tokens').select('uses').where('id', '=', id).executeTakeFirstOrThrow()
      return row.uses
    }
    const countNodes = async () =>
      (await fleet.db.selectFrom('nodes').select('id').where('domain_id', '=', domain).execute()).length
    const openPsk = async (id: string) =>
      Buffer.from(
        await fleet.sealing.open({ table: 'nodes', column: 'psk_sealed', rowId: id }, (await nodeRow(id)).psk_sealed),
      )

    describe('of a new node', () => {
      it('stores it with an address, a sealed preshared key, its place for heartbeats and one key, and answers with what it needs', async () => {
        const public_key = freshPublicKey()
        const { token } = await fleet.token(domain)
        const members = { name: 'web-1', kind: 'vm', public_key, binary_version: '1.2.3', binary_checksum: CHECKSUM }
        const answer = await fleet.register(token, members)
        expect(answer.status).toBe(201)
        const { node_id: id, nsk, signing_keys, ...rest } = answer.body
        expect(rest).toEqual({
          domain_id: domain,
          mesh_address: '100.64.0.1',
          mesh_cidr: '100.64.0.0/10',
          psk_issued_at: '2026-03-01T08:00:00.000000000Z',
          heartbeat_interval_seconds: 30,
        })
        expect(nsk).toMatch(new RegExp(`^nsk_test_${String(id).replaceAll('-', '')}_[0-9A-Za-z]{8}_[0-9A-Za-z_-]{43}$`))
        const [key] = fleet.signer.keys()
        expect(signing_keys).toEqual([
          {
            kid: key?.kid,
            kty: 'OKP',
            crv: 'Ed25519',
            x: key?.publicKey.toString('base64url'),
            alg: 'EdDSA',
            use: 'sig',
            nbf: 1_772_352_000,
            state: 'current',
            signs_from: '2026-03-01T08:00:00.000Z',
            not_before: '2026-03-01T08:00:00.000Z',
            not_after: null,
          },
        ])
        const { psk_sealed: sealed, ...row } = await nodeRow(id)
        const at = new Date('2026-03-01T08:00:00.000Z')
        expect(row).toEqual({
          id,
          domain_id: domain,
          project_id: null,
          name: 'web-1',
          kind: 'vm',
          public_key: Buffer.from(public_key, 'base64'),
          mesh_address: '100.64.0.1',
          peer_revision: '1',
          policy_groups: [],
          enrolled_again_at: null,
          psk_issued_at: '1772352000000000000',
          labels: {},
          ephemeral: false,
          hosted_subnets: [],
          created_at: at,
          updated_at: at,
        })
        expect(sealed.length).toBeGreaterThan(32)
        expect((await openPsk(String(id))).length).toBe(32)
        expect(
          await fleet.db.selectFrom('node_heartbeats').selectAll().where('node_id', '=', String(id)).execute(),
        ).toEqual([
          {
            node_id: id,
            created_at: at,
            accepted_at: null,
            healthy_since: null,
            binary_version: '1.2.3',
            binary_checksum: Buffer.from(CHECKSUM, 'hex'),
            announced_state: 'never_reported',
            node_revision: '1',
            pulled_node_revision: null,
            pulled_peer_revision: null,
            rotation_pending: false,
          },
        ])
        expect(await keyRows(id)).toEqual([
          {
            node_id: id,
            kid: String(nsk).slice(-52, -44),
            fingerprint: fleet.keyring.mac('fingerprint', String(nsk)).mac,
            fingerprint_key_id: fleet.keyring.keyIds('fingerprint')[0],
            created_at: at,
            first_used_at: null,
            retires_at: null,
            revoked_at: null,
          },
        ])
      })

      it('hangs it off its Domain, tells its peers, and is audited under the name of the token', async () => {
        const { id: tokenId, token } = await fleet.token(domain)
        const public_key = freshPublicKey()
        const answer = await fleet.register(token, { name: 'web-1', public_key })
        const id = String(answer.body['node_id'])
        expect(await fleet.tuplesOf(`node:${id}`)).toEqual([`domain:${domain} domain node:${id}`])
        const where = { domain_id: domain, aggregate: `node:${id}` }
        expect(await fleet.outbox(answer)).toEqual([
          {
            event: 'peer_registered',
            ...where,
            payload: { node_id: id, name: 'web-1', mesh_address: '100.64.0.1', public_key },
          },
          {
            event: 'peer_psk_assigned',
            ...where,
            payload: { node_id: id, psk_issued_at: '2026-03-01T08:00:00.000000000Z' },
          },
        ])
        expect(await fleet.audit(answer)).toEqual({
          relation: 'node.register',
          object: `node:${id}`,
          outcome: 'granted',
          reason: 'granted',
          domainId: domain,
        })
        const { subject } = await fleet.db
          .selectFrom('audit')
          .select('subject')
          .where('object', '=', `node:${id}`)
          .executeTakeFirstOrThrow()
        expect(subject).toBe(`jointoken:${tokenId}`)
      })

      it('takes Project, labels and ephemerality from the token', async () => {
        const project = await fleet.project(domain)
        const node = await fleet.enrol(domain, {}, { project_id: project, labels: { zone: 'a' }, ephemeral: true })
        expect(await nodeRow(node.node_id)).toMatchObject({
          project_id: project,
          labels: { zone: 'a' },
          ephemeral: true,
        })
        expect(await fleet.tuplesOf(`node:${node.node_id}`)).toEqual([
          `domain:${domain} domain node:${node.node_id}`,
          `project:${project} project node:${node.node_id}`,
        ])
      })

      it.each([
        [{}, 5],
        [{ project_id: true }, 5],
      ])('takes with a token of %o %i statements between begin and commit', async (terms, count) => {
        const project_id = 'project_id' in terms ? await fleet.project(domain) : undefined
        const { token } = await fleet.token(domain, project_id === undefined ? {} : { project_id })
        const before = statements()
        expect(await fleet.register(token)).toMatchObject({ status: 201 })
        expect(statements() - before).toBe(count)
      })

      it('gives every node a preshared key of its own', async () => {
        const [one, other] = [await fleet.enrol(domain), await fleet.enrol(domain)]
        expect(await openPsk(one.node_id)).not.toEqual(await openPsk(other.node_id))
      })

      it('can be followed by calls with the key at once', async () => {
        expect(await fleet.beat(await fleet.enrol(domain))).toMatchObject({ status: 200 })
      })
    })

    describe('refuses', () => {
      const refusal = async (members: object) => {
        const { id, token } = await fleet.token(domain)
        const before = await countNodes()
        const answer = await fleet.register(token, members as Readonly<Record<string, unknown>>)
        expect(await countNodes()).toBe(before)
        expect(await usesOf(id)).toBe(0)
        return answer
      }

      it('a name that another node of the Domain has, and counts no use', async () => {
        await fleet.enrol(domain, { name: 'web-1' })
        const answer = await refusal({ name: 'web-1' })
        expect(answer).toMatchObject({ status: 409, body: { code: 'node_name_conflict' } })
        expect(await fleet.outbox(answer)).toEqual([])
        expect(await fleet.audit(answer)).toMatchObject({
          relation: 'node.register',
          object: `domain:${domain}`,
          outcome: 'invariant_violation',
          reason: 'node_name_conflict',
        })
        expect(await fleet.enrol(await fleet.domain(), { name: 'web-1' })).toBeDefined()
      })

      it('a public key that another node of the Domain has, and counts no use', async () => {
        const public_key = freshPublicKey()
        await fleet.enrol(domain, { public_key })
        expect(await refusal({ public_key })).toMatchObject({ status: 409, body: { code: 'public_key_in_use' } })
        expect(await fleet.enrol(await fleet.domain(), { public_key })).toBeDefined()
      })

      it.each([
        ['all zeros', Buffer.alloc(32).toString('base64')],
        [
          'a point of small order',
          Buffer.from(`e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800`, 'hex').toString('base64'),
        ],
        ['31 bytes', Buffer.alloc(31, 9).toString('base64')],
        ['base64url', Buffer.alloc(32, 0xfb).toString('base64url')],
      ])('a public key that is %s', async (_what, public_key) => {
        expect(await refusal({ public_key })).toMatchObject({ status: 400, body: { code: 'invalid_public_key' } })
      })

      it.each([
        ['invalid_checksum', { binary_checksum: 'ab' }],
        ['invalid_body', { name: 'Web_1' }],
        ['invalid_body', { name: 'a'.repeat(64) }],
        ['invalid_body', { kind: '' }],
        ['invalid_body', { binary_version: '' }],
        ['invalid_body', { mesh_address: '100.64.0.9' }],
      ])('with %s a body with %o', async (code, members) => {
        expect(await refusal(members)).toMatchObject({ status: 400, body: { code } })
      })

      it('when the Domain has no address left, and counts no use', async () => {
        const small = await fleet.call(fleet.root, 'POST /v1/domains', {
          slug: `small-${fleet.ids.next()}`,
          display_name: 'Small',
          mesh_cidr: '100.64.0.0/30',
        })
        domain = String(small.body['id'])
        await fleet.enrol(domain)
        await fleet.enrol(domain)
        expect(await refusal({})).toMatchObject({ status: 409, body: { code: 'mesh_addresses_exhausted' } })
      })
    })

    describe('of many at once', () => {
      const statuses = (answers: readonly { status: number }[]) => answers.map(({ status }) => status).toSorted()

      it('lets exactly as many join as the token allows', async () => {
        const { id, token } = await fleet.token(domain, { max_uses: 5 })
        const answers = await Promise.all(Array.from({ length: 20 }, () => fleet.register(token)))
        expect(statuses(answers)).toEqual([...Array<number>(5).fill(201), ...Array<number>(15).fill(409)])
        const codes = answers.filter(({ status }) => status === 409).map(({ body }) => body['code'])
        expect(new Set(codes)).toEqual(new Set(['join_token_exhausted']))
        expect(await usesOf(id)).toBe(5)
        expect(await countNodes()).toBe(5)
        const addresses = answers.filter(({ status }) => status === 201).map(({ body }) => body['mesh_address'])
        expect(addresses.toSorted()).toEqual([1, 2, 3, 4, 5].map((last) => `100.64.0.${last}`))
      })

      it('gives each what its token says and its own audit row and events, in few statements', async () => {
        const [other, project] = [await fleet.domain(), await fleet.project(domain)]
        const tokens = [
          { of: domain, ...(await fleet.token(domain, { max_uses: 10 })) },
          { of: domain, ...(await fleet.token(domain, { max_uses: 10, project_id: project, labels: { zone: 'a' } })) },
          { of: other, ...(await fleet.token(other, { max_uses: 10, ephemeral: true })) },
        ]
        const before = statements()
        const answers = await Promise.all(
          Array.from({ length: 30 }, (_, n) => fleet.register(tokens[n % 3]?.token ?? '', { name: `of-many-${n}` })),
        )
        expect(statements() - before).toBeLessThan(30 * 3)
        for (const [n, answer] of answers.entries()) {
          const { of: domain_id } = tokens[n % 3] ?? { of: '' }
          expect(answer).toMatchObject({ status: 201, body: { domain_id } })
          const { mesh_address, nsk } = answer.body
          const id = String(answer.body['node_id'])
          const isSecond = n % 3 === 1
          expect(await nodeRow(id)).toMatchObject({
            name: `of-many-${n}`,
            domain_id,
            mesh_address,
            project_id: isSecond ? project : null,
            labels: isSecond ? { zone: 'a' } : {},
            ephemeral: n % 3 === 2,
          })
          expect(await fleet.tuplesOf(`node:${id}`)).toEqual([
            `domain:${domain_id} domain node:${id}`,
            ...(isSecond ? [`project:${project} project node:${id}`] : []),
          ])
          const ofNode = (await fleet.outbox(answer)).filter(({ aggregate }) => aggregate === `node:${id}`)
          const events = ofNode.map(({ event }) => event).filter((event) => event.startsWith('peer_'))
          expect(events).toEqual(['peer_registered', 'peer_psk_assigned'])
          expect(await fleet.audit(answer)).toMatchObject({
            object: `node:${id}`,
            outcome: 'granted',
            domainId: domain_id,
          })
          expect(await fleet.beat({ node_id: id, nsk: String(nsk) })).toMatchObject({ status: 200 })
        }
        const addresses = (of: string) =>
          answers.flatMap(({ body }) => (body['domain_id'] === of ? [String(body['mesh_address'])] : []))
        expect(new Set(addresses(domain)).size).toBe(20)
        expect(new Set(addresses(other))).toEqual(new Set(Array.from({ length: 10 }, (_, n) => `100.64.0.${n + 1}`)))
        for (const { id } of tokens) expect(await usesOf(id)).toBe(10)
      })

      it('refuses one without its neighbours, and enrols a known node among new ones', async () => {
        const known = await fleet.enrol(domain, { name: 'taken' })
        const [several, one, again] = [
          await fleet.token(domain, { max_uses: 100 }),
          await fleet.token(domain, { max_uses: 1 }),
          await fleet.token(domain, { node_id: known.node_id }),
        ]
        await fleet.register(one.token)
        const asked: [string, object][] = [
          [several.token, {}],
          [several.token, { name: 'taken' }],
          [one.token, {}],
          [several.token, {}],
          [again.token, { name: 'ignored' }],
          [several.token, {}],
        ]
        const answers = await Promise.all(asked.map(([token, members]) => fleet.register(token, { ...members })))
        const codes = answers.map(({ status, body }) => body['code'] ?? status)
        expect(codes).toEqual([201, 'node_name_conflict', 'join_token_exhausted', 201, 201, 201])
        expect(answers[4]?.body).toMatchObject({ node_id: known.node_id, mesh_address: known.mesh_address })
        expect(await usesOf(several.id)).toBe(3)
        for (const answer of answers) {
          const granted = answer.status === 201
          const code = String(answer.body['code'])
          expect(await fleet.audit(answer)).toMatchObject({
            object: granted ? `node:${String(answer.body['node_id'])}` : `domain:${domain}`,
            reason: granted ? 'granted' : code,
          })
        }
      })

      it('gives one name and one key to one node', async () => {
        for (const members of [{ name: 'same' }, { public_key: freshPublicKey() }]) {
          const tokens = await Promise.all(Array.from({ length: 6 }, () => fleet.token(domain)))
          const answers = await Promise.all(tokens.map(({ token }) => fleet.register(token, members)))
          expect(statuses(answers)).toEqual([201, 409, 409, 409, 409, 409])
        }
        expect(await countNodes()).toBe(2)
      })
    })

    describe('of a node that is enrolled again', () => {
      it('keeps id, name, address, Project, labels and times, replaces its keys and kills the old secret key', async () => {
        const project = await fleet.project(domain)
        const terms = { project_id: project, labels: { zone: 'a' }, ephemeral: true }
        const node = await fleet.enrol(domain, { name: 'web-1', kind: 'vm', binary_version: '1.0.0' }, terms)
        expect(await fleet.beat(node)).toMatchObject({ status: 200 })
        const [before, pskBefore] = [await nodeRow(node.node_id), await openPsk(node.node_id)]
        const again = await fleet.token(domain, { node_id: node.node_id })
        fleet.wait(1_000)
        const public_key = freshPublicKey()
        const answer = await fleet.register(again.token, {
          name: 'renamed-by-nobody',
          kind: 'bridge',
          public_key,
          binary_version: '2.0.0',
        })
        fleet.wait(-1_000)
        expect(answer).toMatchObject({
          status: 201,
          body: {
            node_id: node.node_id,
            domain_id: domain,
            mesh_address: node.mesh_address,
            psk_issued_at: '2026-03-01T08:00:01.000000000Z',
          },
        })
        const { psk_sealed: _sealed, ...after } = await nodeRow(node.node_id)
        const { psk_sealed: _old, ...kept } = before
        expect(after).toEqual({
          ...kept,
          kind: 'bridge',
          public_key: Buffer.from(public_key, 'base64'),
          psk_issued_at: '1772352001000000000',
          enrolled_again_at: new Date('2026-03-01T08:00:01.000Z'),
          peer_revision: '2',
          updated_at: new Date('2026-03-01T08:00:01.000Z'),
        })
        expect(await openPsk(node.node_id)).not.toEqual(pskBefore)
        expect(await fleet.beat(node)).toMatchObject({ status: 401, body: { code: 'nsk_revoked' } })
        const reborn = { node_id: node.node_id, nsk: String(answer.body['nsk']) }
        expect(await fleet.beat(reborn)).toMatchObject({ status: 200 })
        const where = { domain_id: domain, aggregate: `node:${node.node_id}` }
        expect(await fleet.outbox(answer)).toEqual([
          {
            event: 'peer_registered',
            ...where,
            payload: { node_id: node.node_id, name: 'web-1', mesh_address: node.mesh_address, public_key },
          },
          {
            event: 'peer_psk_assigned',
            ...where,
            payload: { node_id: node.node_id, psk_issued_at: '2026-03-01T08:00:01.000000000Z' },
          },
        ])
        expect(await fleet.audit(answer)).toMatchObject({ relation: 'node.register', object: `node:${node.node_id}` })
        expect(await fleet.tuplesOf(`node:${node.node_id}`)).toHaveLength(2)
      })

      it('issues the preshared key later than the last one though the clock stands', async () => {
        const node = await fleet.enrol(domain)
        await fleet.register((await fleet.token(domain, { node_id: node.node_id })).token)
        expect((await nodeRow(node.node_id)).psk_issued_at).toBe('1772352000000000001')
      })

      it('may keep its own public key, but not take that of another', async () => {
        const own = freshPublicKey()
        const others = freshPublicKey()
        const node = await fleet.enrol(domain, { public_key: own })
        await fleet.enrol(domain, { public_key: others })
        const { id, token } = await fleet.token(domain, { node_id: node.node_id })
        expect(await fleet.register(token, { public_key: others })).toMatchObject({
          status: 409,
          body: { code: 'public_key_in_use' },
        })
        expect(await fleet.beat(node)).toMatchObject({ status: 200 })
        expect(await usesOf(id)).toBe(0)
        expect(await fleet.register(token, { public_key: own })).toMatchObject({ status: 201 })
      })

      it('happens once for each token', async () => {
        const node = await fleet.enrol(domain)
        const { token } = await fleet.token(domain, { node_id: node.node_id })
        const answers = await Promise.all([fleet.register(token), fleet.register(token), fleet.register(token)])
        expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409, 409])
      })

      it('is refused when the node is gone', async () => {
        const node = await fleet.enrol(domain)
        const { token } = await fleet.token(domain, { node_id: node.node_id })
        expect(await fleet.call(fleet.root, `DELETE /v1/nodes/${node.node_id}`)).toMatchObject({ status: 204 })
        expect(await fleet.register(token)).toMatchObject({ status: 401, body: { code: 'invalid_join_token' } })
      })
    })
  })
})
