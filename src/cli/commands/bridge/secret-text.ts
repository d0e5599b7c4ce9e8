import { isSecretRef } from '../../../shared/bridges/secret-ref.ts'
import { usageError } from '../../errors/cli-error.ts'
import { memberOf } from '../../output/members.ts'
import type { Session } from '../../session/session.ts'
import type { ProjectPlace } from './place.ts'

const BARE = /^(?:secret:)?([a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?::[1-9]\d{0,8})?)$/

/** What was typed for a secret: a reference, or the name of one of the Project, whose slugs are to be added. */
export type SecretText = { readonly ref: string } | { readonly name: string }

/** Reads `secret:acme/edge/hq-key:3`, `hq-key`, `hq-key:3`. Throws a usage error that begins with the flag. */
export function secretFrom(text: string, flag: string): SecretText {
  if (isSecretRef(text)) return { ref: text }
  const [, name] = BARE.exec(text) ?? []
  if (name !== undefined) return { name }
  throw usageError(
    `${flag} cannot be read: "${text}"`,
    'Write the name of a secret of the Project, with a version if you want: hq-key, hq-key:3; or secret:DOMAIN/PROJECT/NAME.',
    'See the secrets of the Project: ctl secrets list',
  )
}

/** The whole reference. Asks for the slugs of Project and Domain where a name was typed; throws what these calls throw. */
export async function referenceOf(session: Session, text: SecretText, { project }: ProjectPlace): Promise<string> {
  if ('ref' in text) return text.ref
  const caller = await session.caller()
  const row = project.row ?? (await caller.call(session.operation('GetProject'), { id: project.id })).value
  const domain = await caller.call(session.operation('GetDomain'), { id: memberOf(row, 'domain_id') })
  return `secret:${String(memberOf(domain.value, 'slug'))}/${String(memberOf(row, 'slug'))}/${text.name}`
}
