import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ENGINE_KINDS, isEngineMissing, useSpicedb } from '../../support/authz/engines.ts'
import { STORES } from '../../support/datastores/stores.ts'
import { startLending, type LendingPlane } from '../../support/server/lending.ts'

const PLACES = ENGINE_KINDS.flatMap((engine) => STORES.map((store) => ({ engine, store, name: store.name })))

describe.each(PLACES)('What is lent, with the $engine engine on the $name store', ({ engine, store }) => {
  describe.skipIf(store.missing || isEngineMissing(engine))('', () => {
    const spicedb = useSpicedb(engine)
    let plane: LendingPlane
    beforeAll(async () => {
      plane = await startLending(store, { surfaces: [] }, spicedb())
    })
    afterAll(() => plane?.stop())

    const holds = async (subject: string, relation: string, resource: string) => {
      const facts = { nowMs: plane.clock.nowMs }
      return (await plane.authorizer.check({ subject, relation, resource, facts, wantPath: false })).allowed
    }
    const listed = async (kind: string, projectId: string) =>
      (await plane.call(plane.root, `GET /v1/projects/${projectId}/${kind}-assignments`)).body['items']

    it('is granted from the approval on, and not after the revocation', async () => {
      const [project, cloudId] = [await plane.projectWithDeployer(), await plane.cloud()]
      const reader = await plane.holder(plane.domainId, 'viewer', `project:${project.id}`)
      const [cloud, subject] = [`cloud:${cloudId}`, `project:${project.id}`]
      expect(await holds(reader, 'observe', cloud)).toBe(false)
      const ofCloud = await plane.lendCloud(project, cloudId)
      expect(await holds(reader, 'observe', cloud)).toBe(true)
      expect(await holds(reader, 'assign', cloud)).toBe(false)
      expect(await listed('cloud', project.id)).toMatchObject([{ state: 'approved', materialised: true }])

      const credentialId = await plane.credential(cloudId)
      const credential = `cloudcredential:${credentialId}`
      expect(await holds(subject, 'uses', credential)).toBe(false)
      const id = await plane.lendCredential(project, credentialId)
      expect(await holds(subject, 'uses', credential)).toBe(true)
      expect(await holds(reader, 'read', credential)).toBe(true)
      expect(await holds(reader, 'assign', credential)).toBe(false)
      expect(await listed('credential', project.id)).toMatchObject([{ state: 'approved', materialised: true }])

      expect((await plane.revoke(project.deployer, 'credential', id)).status).toBe(200)
      expect(await holds(subject, 'uses', credential)).toBe(false)
      expect((await plane.revoke(plane.root, 'cloud', ofCloud)).status).toBe(200)
      expect(await holds(reader, 'observe', cloud)).toBe(false)
      expect(await plane.contradictions()).toEqual([])
    })

    it('is lent again after a revocation', async () => {
      const [project, cloudId] = [await plane.projectWithDeployer(), await plane.cloud()]
      await plane.lendCloud(project, cloudId)
      const credentialId = await plane.credential(cloudId)
      const id = await plane.lendCredential(project, credentialId)
      await plane.revoke(plane.root, 'credential', id)
      await plane.lendCredential(project, credentialId)
      expect(await holds(`project:${project.id}`, 'uses', `cloudcredential:${credentialId}`)).toBe(true)
      expect(await listed('credential', project.id)).toMatchObject([
        { state: 'revoked', materialised: false },
        { state: 'approved', materialised: true },
      ])
    })

    it('is not materialised before the engine has its tuple', async () => {
      const [project, cloudId] = [await plane.projectWithDeployer(), await plane.cloud()]
      await plane.lendCloud(project, cloudId)
      await plane.lendCredential(project, await plane.credential(cloudId))
      const set = (state: 'pending' | 'live') =>
        plane.db
          .updateTable('relation_tuples')
          .set({ state })
          .where('subject_id', '=', project.id)
          .where('relation', 'in', ['uses', 'consumer'])
          .execute()
      await set('pending')
      expect(await listed('credential', project.id)).toMatchObject([{ state: 'approved', materialised: false }])
      expect(await listed('cloud', project.id)).toMatchObject([{ state: 'approved', materialised: false }])
      await set('live')
      expect(await listed('credential', project.id)).toMatchObject([{ state: 'approved', materialised: true }])
    })
  })
})
