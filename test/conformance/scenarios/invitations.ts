import type { invitations } from '../../../src/shared/contract/invitations.ts'
import type { Scenarios } from '../scenario.ts'
import type { World } from '../world.ts'

/** Scenarios of the invitation operations. */
export const invitationScenarios: Scenarios<World, typeof invitations> = {
  CreateInvitation: ({ root, nobody, domainId, name }) => ({
    input: { id: domainId, body: { email: `${name()}@acme.example`, ttl_seconds: 3600 } },
    as: root,
    lesser: nobody,
  }),
  async ListInvitations({ make, root, nobody, domainId: id, name }) {
    for (const _ of ['one', 'two']) await make('CreateInvitation', { id, body: { email: `${name()}@acme.example` } })
    return { input: { id }, as: root, lesser: nobody }
  },
  async DeleteInvitation({ make, root, nobody, domainId: id, name }) {
    const { id: invitation_id } = await make('CreateInvitation', { id, body: { email: `${name()}@acme.example` } })
    return { input: { id, invitation_id }, as: root, lesser: nobody }
  },
}
