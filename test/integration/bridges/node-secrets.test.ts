import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { parseNsk } from '../../../src/shared/credential-formats.ts'
import { openSecretEnvelope } from '../../../src/shared/mesh/secret-envelope.ts'
import { storeNamingBridge, type NamingBridge } from '../../support/bridges/naming-bridge.ts'
import { STORES } from '../../support/datastores/stores.ts'
import { startFleet, type Enrolled, type Fleet } from '../../support/fleet/fleet.ts'
import { scriptedStore, type ScriptedStore } from '../../support/secrets/scripted-store.ts'

type Node = Pick<Enrolled, 'node_id' | 'nsk'>

describe.each(STORES)('Secrets for nodes on the $name store', (store) => {
  describe.skipIf(store.missing)('served over HTTP', () => {
    let fleet: Fleet
    let secretStore: ScriptedStore
    let domainId: string
    let projectId: string
    let host: Enrolled
    let bystander: Enrolled
    let resources = 0

    beforeAll(async () => {
      fleet = await startFleet(store, (backend) => {
        secretStore = scriptedStore(backend.secretStore)
        return { surfaces: ['nodeSecrets', 'secrets'], ports: { secretStore } }
      })
      domainId = await fleet.domain('acme')
      projectId = await fleet.project(domainId, 'edge')
    })
    beforeEach(async () => {
      secretStore.failsAt(undefined)
      host = await fleet.enrol(domainId)
      bystander = await fleet.enrol(domainId)
    })
    afterAll(() => fleet?.stop())

    let secrets = 0
    const newName = (): string => `key-${(secrets += 1)}`
    const put = async (name: string, value: string, project = projectId) => {
      const answer = await fleet.call(fleet.root, `PUT /v1/projects/${project}/secrets/${name}`, { value })
      expect(answer.status).toBe(200)
      return answer
    }
    const onSecret = (method: string, name: string, query = '') =>
      fleet.call(fleet.root, `${method} /v1/projects/${projectId}/secrets/${name}${query}`)
    const bridge = async (bridgeOf: Partial<NamingBridge> & Pick<NamingBridge, 'refs'>): Promise<string> => {
      const resourceId = `018f0000-0000-7000-8000-${(resources += 1).toString(16).padStart(12, '0')}`
      await storeNamingBridge(fleet.db, { resourceId, domainId, projectId, hosts: [host.node_id], ...bridgeOf })
      return resourceId
    }
    const get = async ({ node_id, nsk }: Node, ref: string, id = node_id) => {
      const url = `${fleet.url}/v1/nodes/${id}/secrets?ref=${encodeURIComponent(ref)}`
      const response = await fetch(url, { headers: { authorization: `Bearer ${nsk}` } })
      const bytes = new Uint8Array(await response.arrayBuffer())
      const body = response.ok ? {} : (JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>)
      return { status: response.status, headers: response.headers, bytes, body }
    }
    /** The secret as an agent gets it, with its version. */
    const opened = async (node: Node, ref: string): Promise<readonly [string, number]> => {
      const { status, headers, bytes, body } = await get(node, ref)
      if (status !== 200) throw new Error(`no secret: ${status} ${JSON.stringify(body)}`)
      const version = Number(headers.get('x-service-secret-version'))
      const key = parseNsk(node.nsk)?.key ?? new Uint8Array()
      const found = openSecretEnvelope(bytes, key, { nodeId: node.node_id, ref, version })
      if (!found.ok) throw new Error(`the envelope does not open: ${found.fault}`)
      return [new TextDecoder().decode(found.secret), version]
    }

    it('are sealed under the key of the call, with its id and their version, and not to be stored', async () => {
      const name = newName()
      await put(name, 'correct horse')
      const ref = `secret:acme/edge/${name}`
      await bridge({ refs: [ref] })
      const answer = await get(host, ref)
      expect(answer.status).toBe(200)
      const members = [
        'content-type',
        'content-length',
        'cache-control',
        'x-service-psk-kid',
        'x-service-secret-version',
      ]
      expect(members.map((member) => answer.headers.get(member))).toEqual([
        'application/octet-stream',
        '41',
        'no-store',
        parseNsk(host.nsk)?.kid,
        '1',
      ])
      expect(await opened(host, ref)).toEqual(['correct horse', 1])
      const again = await get(host, ref)
      expect(Buffer.from(again.bytes.subarray(0, 12)).equals(answer.bytes.subarray(0, 12))).toBe(false)
    })

    it('of 64 KiB and of any characters arrive as they were written', async () => {
      const name = newName()
      const value = `ü😀\u2028"${'x'.repeat(65_526)}`
      await put(name, value)
      await bridge({ refs: [`secret:acme/edge/${name}`] })
      expect(await opened(host, `secret:acme/edge/${name}`)).toEqual([value, 1])
    })

    it('are of the version that the reference names, else of the newest that was not deleted', async () => {
      const name = newName()
      for (const value of ['one', 'two', 'three']) await put(name, value)
      expect((await onSecret('DELETE', name, '?version=3')).status).toBe(204)
      const ref = `secret:acme/edge/${name}`
      await bridge({ refs: [ref, `${ref}:1`] })
      expect([await opened(host, ref), await opened(host, `${ref}:1`)]).toEqual([
        ['two', 2],
        ['one', 1],
      ])
      await put(name, 'four')
      expect(await opened(host, ref)).toEqual(['four', 4])
    })

    it('are sealed under either key while a replaced one still counts', async () => {
      const name = newName()
      await put(name, 'x')
      const ref = `secret:acme/edge/${name}`
      await bridge({ refs: [ref] })
      const { body } = await fleet.call(fleet.root, `POST /v1/nodes/${host.node_id}/nsk/rotate`)
      const next = { node_id: host.node_id, nsk: String(body['nsk']) }
      expect([await opened(host, ref), await opened(next, ref)]).toEqual([
        ['x', 1],
        ['x', 1],
      ])
    })

    it('that no configuration of the node names are answered like those that do not exist', async () => {
      const [name, other, hidden, said] = [newName(), newName(), newName(), newName()]
      for (const one of [name, other, hidden, said]) await put(one, 'x')
      const elsewhere = await fleet.project(domainId, `other-${name}`)
      await put(name, 'of another Project', elsewhere)
      const ref = (one: string): string => `secret:acme/edge/${one}`
      await bridge({
        refs: [ref(name), `${ref(other)}:1`, ref('missing'), `${ref(name)}:9`],
        untold: [ref(hidden)],
        unnamed: [ref(said), `secret:acme/other-${name}/${name}`],
      })
      await bridge({ refs: [`${ref(said)}:1`], hosts: [bystander.node_id] })
      const refused = await Promise.all(
        [
          ref('missing'),
          `${ref(name)}:9`,
          `${ref(name)}:1`,
          ref(other),
          `${ref(other)}:2`,
          ref(hidden),
          ref(said),
          `${ref(said)}:1`,
          `secret:acme/other-${name}/${name}`,
          `secret:nowhere/edge/${name}`,
        ].map((one) => get(host, one)),
      )
      const answers = refused.map(({ status, body }) => JSON.stringify([status, { ...body, correlation_id: '' }]))
      expect(refused[0]).toMatchObject({ status: 404, body: { code: 'secret_not_found' } })
      expect(new Set(answers).size).toBe(1)
      expect(refused.map(({ headers }) => headers.get('x-service-psk-kid')).every((kid) => kid === null)).toBe(true)
      expect(await opened(host, ref(name))).toEqual(['x', 1])
      expect(await opened(bystander, `${ref(said)}:1`)).toEqual(['x', 1])
    })

    it('are refused to a former host', async () => {
      const name = newName()
      await put(name, 'x')
      const ref = `secret:acme/edge/${name}`
      const resourceId = await bridge({ refs: [ref] })
      expect((await get(host, ref)).status).toBe(200)
      await fleet.db.deleteFrom('resource_hosts').where('resource_id', '=', resourceId).execute()
      expect(await get(host, ref)).toMatchObject({ status: 404, body: { code: 'secret_not_found' } })
    })

    it.each([
      ['', 400, 'secret_ref_malformed'],
      ['key', 400, 'secret_ref_malformed'],
      ['secret:acme/edge/key:0', 400, 'secret_ref_malformed'],
      ['secret:acme/edge/key:1000000000', 400, 'secret_ref_malformed'],
      ['secret:acme/edge/Key', 400, 'secret_ref_malformed'],
      [`secret:acme/edge/${'k'.repeat(300)}`, 400, 'secret_ref_malformed'],
      ['secret:acme/edge/key\n', 400, 'secret_ref_malformed'],
    ])('are refused for the reference %j', async (ref, status, code) => {
      expect(await get(host, ref)).toMatchObject({ status, body: { code } })
    })

    it('are refused on the path of another node, and to every other credential', async () => {
      const ref = 'secret:acme/edge/key'
      expect(await get(bystander, ref, host.node_id)).toMatchObject({ status: 403, body: { code: 'node_id_mismatch' } })
      expect(await get({ node_id: host.node_id, nsk: fleet.root }, ref)).toMatchObject({
        status: 401,
        body: { code: 'unauthorized' },
      })
      expect(await get({ ...host, node_id: 'web-1' }, ref)).toMatchObject({ body: { code: 'invalid_node_id' } })
    })

    it('are unavailable while the store is, which changes nothing', async () => {
      const name = newName()
      await put(name, 'x')
      const ref = `secret:acme/edge/${name}`
      await bridge({ refs: [ref] })
      for (const fault of ['unreachable', 'sealed', 'timeout'] as const) {
        secretStore.failsAt('before get', fault)
        const answer = await get(host, ref)
        expect(answer).toMatchObject({ status: 503, body: { code: 'secret_store_unavailable' } })
        expect(answer.headers.get('x-service-secret-version')).toBeNull()
      }
      secretStore.failsAt(undefined)
      expect(await opened(host, ref)).toEqual(['x', 1])
    })

    it('are fetched while no transaction is open: the datastore changes while the store is asked', async () => {
      const name = newName()
      await put(name, 'x')
      const ref = `secret:acme/edge/${name}`
      const resourceId = await bridge({ refs: [ref] })
      secretStore.once('before get', () =>
        fleet.change(async ({ db }) => {
          await db.deleteFrom('resources').where('id', '=', resourceId).execute()
        }),
      )
      expect(await opened(host, ref)).toEqual(['x', 1])
      expect((await get(host, ref)).status).toBe(404)
    })

    it('that are deleted in between are not found', async () => {
      const name = newName()
      const { body } = await put(name, 'x')
      const ref = `secret:acme/edge/${name}`
      await bridge({ refs: [ref] })
      secretStore.once('before get', () => secretStore.destroy(`project-secrets/${String(body['id'])}`))
      expect(await get(host, ref)).toMatchObject({ status: 404, body: { code: 'secret_not_found' } })
    })

    it('are audited with their version when given, and by their code when refused', async () => {
      const name = newName()
      await put(name, 'x')
      const ref = `secret:acme/edge/${name}`
      await bridge({ refs: [ref] })
      const [given, refused] = [await get(host, ref), await get(host, `${ref}:7`)]
      const row = { relation: 'secret.fetch', object: `node:${host.node_id}`, domainId }
      expect(await fleet.audit(given)).toEqual({ ...row, outcome: 'granted', reason: 'granted' })
      expect(await fleet.audit(refused)).toMatchObject({ ...row, reason: 'secret_not_found' })
      const entry = fleet.audited.find(({ correlationId }) => correlationId === given.headers.get('x-correlation-id'))
      expect(entry?.context).toMatchObject({ version: 1 })
      expect(JSON.stringify(fleet.audited)).not.toContain('"value"')
    })

    it('keep those secrets from being deleted that a bridge would miss, and show which bridge it is', async () => {
      const name = newName()
      for (const value of ['one', 'two', 'three']) await put(name, value)
      const ref = `secret:acme/edge/${name}`
      const newest = `resource:${await bridge({ refs: [ref] })}`
      const pinned = `resource:${await bridge({ refs: [`${ref}:1`, ref] })}`
      expect((await onSecret('GET', name)).body['users']).toEqual([
        { object: newest, version: null },
        { object: pinned, version: 1 },
        { object: pinned, version: null },
      ])
      const refusals = [await onSecret('DELETE', name), await onSecret('DELETE', name, '?version=3')]
      for (const refused of refusals)
        expect(refused).toMatchObject({ status: 409, body: { code: 'secret_in_use', users: [newest, pinned] } })
      expect(await onSecret('DELETE', name, '?version=1')).toMatchObject({ status: 409, body: { users: [pinned] } })
      expect((await onSecret('DELETE', name, '?version=2')).status).toBe(204)
      await fleet.db.deleteFrom('bridge_secret_refs').where('name', '=', name).execute()
      expect((await onSecret('DELETE', name)).status).toBe(204)
    })
  })
})
