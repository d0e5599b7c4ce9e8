import type { contract } from '../../shared/contract/index.ts'
import type { ApprovalKind } from '../ports/approval-kind.ts'
import type { CredentialResolver } from '../ports/credential-resolver.ts'
import type { LeaderJob } from '../ports/leadership.ts'
import type { OutboxConsumer } from '../ports/outbox.ts'
import type { Page } from './pages/pages.ts'
import type { Handlers } from './request-context.ts'

/** Name of a surface in the contract. */
export type SurfaceName = keyof typeof contract

/** Everything that one slice adds to the server. Its `slice.ts` exports `createSlice(ports): Slice`. */
export interface Slice<Name extends SurfaceName = never> {
  /** Handlers per surface. Undefined: a collaborator is not configured, so the operations answer 501. */
  readonly handlers: { readonly [Surface in Name]: Handlers<(typeof contract)[Surface]> | undefined }
  /** Credentials that this slice recognises. They are tried in the order of the list of slices. */
  readonly resolvers?: readonly CredentialResolver[]
  /** Background jobs that only the leader runs. */
  readonly jobs?: readonly LeaderJob[]
  /** Consumers of the outbox. Each keeps its cursor under its own name. */
  readonly consumers?: readonly OutboxConsumer[]
  /** Kinds of approvals whose decisions this slice carries out. */
  readonly approvalKinds?: readonly ApprovalKind[]
  /** HTML pages outside the contract. */
  readonly pages?: readonly Page[]
  /** Starts what runs in every process. Never rejects. */
  readonly start?: () => Promise<void>
  /** Answers the requests that wait for a batch. Later requests of that kind are refused. */
  readonly drain?: () => Promise<void>
  /** Writes what is buffered. */
  readonly flush?: () => Promise<void>
}
