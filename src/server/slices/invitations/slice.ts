import type { Slice } from '../../http/slice.ts'
import type { Clock } from '../../ports/clock.ts'
import { createInvitationSweeper } from './invitation-sweeper.ts'
import { createInvitations, type InvitationsDeps } from './service.ts'

export { contents } from './contents.ts'

/** Invitations: who may become a user of a Domain at sign-in. */
export function createSlice({ clock, ...deps }: InvitationsDeps & { readonly clock: Clock }): Slice<'invitations'> {
  return { handlers: { invitations: createInvitations(deps) }, jobs: [createInvitationSweeper({ clock })] }
}
