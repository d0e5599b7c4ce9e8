import type { approvalPolicies } from '../../../src/shared/contract/approval-policies.ts'
import type { approvals } from '../../../src/shared/contract/approvals.ts'
import type { Scenarios, ValidCall } from '../scenario.ts'
import type { World } from '../world.ts'

/** Scenarios of the approvals queue. */
export const approvalScenarios: Scenarios<World, typeof approvals> = {
  async ListApprovals({ approval, root }) {
    for (const _ of ['one', 'two']) await approval()
    return { input: {}, as: root }
  },
  async GetApproval({ approval, root, nobody }) {
    const { id } = await approval()
    return { input: { id }, as: root, lesser: nobody }
  },
  async ApproveApproval(world) {
    const { id } = await world.approval()
    return { ...(await decision(world)), input: { id, body: { reason: 'As agreed' } } }
  },
  async RejectApproval(world) {
    const { id } = await world.approval()
    return { ...(await decision(world)), input: { id, body: { reason: 'Not needed' } } }
  },
  async WithdrawApproval(world) {
    const requester = await world.signedIn()
    const { subject } = await world.makeAs(requester, 'GetAuthWhoami', {})
    const { id } = await world.approval(subject)
    return { input: { id }, as: requester, lesser: world.nobody, onlooker: await onlooker(world) }
  },
}

/** Scenarios of the policies. What they name is not held, so that other scenarios go on as before. */
export const approvalPolicyScenarios: Scenarios<World, typeof approvalPolicies> = {
  GetDomainApprovalPolicy: ({ domainId: id, root, nobody }) => ({ input: { id }, as: root, lesser: nobody }),
  async PutDomainApprovalPolicy(world) {
    await addManager(world)
    return { input: { id: world.domainId, body: POLICY }, as: world.root, lesser: world.nobody }
  },
  GetPlatformApprovalPolicy: ({ root, nobody }) => ({ input: {}, as: root, lesser: nobody }),
  async PutPlatformApprovalPolicy(world) {
    const subject = await newUser(world)
    await world.make('CreatePlatformGrant', { body: { subject, relation: 'admin' } })
    return { input: { body: POLICY }, as: world.root, lesser: world.nobody }
  },
}

const POLICY = { actions: { 'credentials.lend': { required_approvals: 1 } }, ttl_seconds: 86_400 }

/** People decide: the administrator with a browser session. */
async function decision(world: World): Promise<Pick<ValidCall, 'as' | 'lesser' | 'onlooker'>> {
  return { as: world.session, lesser: world.nobody, onlooker: await onlooker(world) }
}

/** Cookies of somebody who may read the Domain and no more. */
async function onlooker(world: World): Promise<string> {
  const session = await world.signedIn()
  const { subject } = await world.makeAs(session, 'GetAuthWhoami', {})
  await world.make('CreateDomainGrant', { id: world.domainId, body: { subject, relation: 'viewer' } })
  return session
}

async function addManager(world: World): Promise<void> {
  const body = { subject: await newUser(world), relation: 'admin' }
  await world.make('CreateDomainGrant', { id: world.domainId, body })
}

async function newUser(world: World): Promise<string> {
  return (await world.makeAs(await world.signedIn(), 'GetAuthWhoami', {})).subject
}
