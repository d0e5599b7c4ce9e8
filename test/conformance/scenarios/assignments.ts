import type { cloudAssignments } from '../../../src/shared/contract/cloud-assignments.ts'
import type { credentialAssignments } from '../../../src/shared/contract/credential-assignments.ts'
import type { Scenarios } from '../scenario.ts'
import type { World } from '../world.ts'
import { makeCredential } from './cloud-credentials.ts'
import { makeCloud } from './provider-bundles.ts'

const PACKAGES = [{ source: 'oci://registry.example/provider-hetzner', version: 'v1.4.0' }]
const INLINE = { provider_packages: PACKAGES, provider_config_api_version: 'v1beta1' }
const REASON = 'No longer needed'

/** Scenarios of the lending of Clouds. */
export const cloudAssignmentScenarios: Scenarios<World, typeof cloudAssignments> = {
  async RequestCloudAssignment(world) {
    const body = { cloud_id: await makeCloud(world, INLINE) }
    return { input: { id: world.projectId, body }, as: world.root, lesser: world.nobody }
  },
  async ListCloudAssignments(world) {
    const id = await newProject(world)
    for (const _ of ['one', 'two', 'three']) await requestCloud(world, id)
    return { input: { id }, as: world.root, lesser: world.nobody }
  },
  async RevokeCloudAssignment(world) {
    const { id } = await lendCloud(world, world.projectId)
    const body = { reason: REASON, cascade: true }
    return { input: { id, body }, as: world.root, lesser: world.nobody, onlooker: await reader(world) }
  },
  async GetProviderConfig(world) {
    const { cloudId } = await lendCloud(world, world.projectId)
    return { input: { id: world.projectId, cloud_id: cloudId }, as: world.root, lesser: world.nobody }
  },
}

/** Scenarios of the lending of credentials. */
export const credentialAssignmentScenarios: Scenarios<World, typeof credentialAssignments> = {
  async RequestCredentialAssignment(world) {
    const id = world.projectId
    const credentialId = await lendable(world, id)
    const { cloudId } = await lendCloud(world, id)
    await makeCredential(world, cloudId)
    const variants = [{ id, body: { cloud_id: cloudId } }]
    return {
      input: { id, body: { cloud_credential_id: credentialId } },
      variants,
      as: world.root,
      lesser: world.nobody,
    }
  },
  async ListCredentialAssignments(world) {
    const id = await newProject(world)
    for (const _ of ['one', 'two', 'three']) await requestCredential(world, id)
    return { input: { id }, as: world.root, lesser: world.nobody }
  },
  async RevokeCredentialAssignment(world) {
    const { id, approval_id: approvalId } = await requestCredential(world, world.projectId)
    await approve(world, approvalId)
    return { input: { id, body: { reason: REASON } }, as: world.root, lesser: world.nobody }
  },
}

async function newProject({ make, domainId, name }: World): Promise<string> {
  return (await make('CreateProject', { id: domainId, body: { slug: name(), display_name: 'Lending' } })).id
}

/** People decide: an administrator of the platform with a browser session. */
async function approve(world: World, approvalId: string): Promise<void> {
  await world.makeAs(world.approver, 'ApproveApproval', { id: approvalId, body: {} })
}

interface Requested {
  readonly id: string
  readonly cloudId: string
  readonly approval_id: string
}

async function requestCloud(world: World, id: string): Promise<Requested> {
  const cloudId = await makeCloud(world, INLINE)
  return { ...(await world.make('RequestCloudAssignment', { id, body: { cloud_id: cloudId } })), cloudId }
}

async function lendCloud(world: World, projectId: string): Promise<Requested> {
  const requested = await requestCloud(world, projectId)
  await approve(world, requested.approval_id)
  return requested
}

/** A new credential of a new Cloud that the Project may use, by id. */
async function lendable(world: World, projectId: string): Promise<string> {
  const { cloudId } = await lendCloud(world, projectId)
  return makeCredential(world, cloudId)
}

async function requestCredential(world: World, id: string) {
  const body = { cloud_credential_id: await lendable(world, id) }
  return world.make('RequestCredentialAssignment', { id, body })
}

/** Cookies of somebody who may read the Project and no more. */
async function reader(world: World): Promise<string> {
  const session = await world.signedIn()
  const { subject } = await world.makeAs(session, 'GetAuthWhoami', {})
  await world.make('CreateDomainGrant', { id: world.domainId, body: { subject, relation: 'viewer' } })
  return session
}
