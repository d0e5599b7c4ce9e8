import { ProblemAnswer } from '../../client/failures.ts'
import type { ManifestOperation } from '../../shared/contract/manifest-format.ts'
import { CliError } from '../errors/cli-error.ts'
import { showOf } from '../session/noun-lists.ts'
import { createResolver, type Scope } from '../session/references.ts'
import type { Resolved } from '../session/pick.ts'
import type { Session } from '../session/session.ts'
import { harmless } from '../output/style.ts'
import { singular } from '../argv/tree.ts'
import { memberOf } from '../output/members.ts'
import { nounOf } from './members.ts'
import type { Target } from './plan.ts'

/** What has the handle that an object was to be created under. */
export interface Existing {
  readonly value: unknown
  /** Said in place of the sentence about a creation. */
  readonly instead: string
}

interface Creation {
  readonly operation: ManifestOperation
  readonly target: Target
}

/** Finds what has the handle; undefined where the failure is another, or nothing that may be seen is called so. */
export async function existingFor(
  error: unknown,
  session: Session,
  { operation, target }: Creation,
): Promise<Existing | undefined> {
  const words = operation.cli?.handle
  if (words === undefined || !(error instanceof ProblemAnswer) || error.code !== words.taken) return undefined
  const handle = memberOf(target.input, `body.${words.member}`)
  const noun = words.noun ?? nounOf(operation)
  if (typeof handle !== 'string') return undefined
  const scope = scopeOf(operation, target)
  const found = await lookedUp(session, noun, { handle, scope })
  if (found === undefined) return undefined
  const known = found.id === handle ? '' : ` (${found.id})`
  const instead = `There is ${withArticle(words.called ?? singular(noun))} ${harmless(handle)} already${known}; nothing was changed.`
  return { value: await shown(session, noun, { found, target }), instead }
}

function withArticle(name: string): string {
  return `${/^[aeio]/.test(name) ? 'an' : 'a'} ${name}`
}

async function lookedUp(
  session: Session,
  noun: string,
  { handle, scope }: { readonly handle: string; readonly scope: Scope },
): Promise<Resolved | undefined> {
  try {
    return await createResolver(session).withHandle(noun, handle, scope)
  } catch (error) {
    if (error instanceof CliError || error instanceof ProblemAnswer) return undefined
    throw error
  }
}

/** Where the object was to be created is where it is looked up. */
function scopeOf({ cli, params, query }: ManifestOperation, { input }: Target): Scope {
  const ids = [...params, ...query].flatMap(({ name }) => {
    const [noun, id] = [cli?.refs?.[name], input[name]]
    return noun !== undefined && typeof id === 'string' ? [[noun, id] as const] : []
  })
  return Object.fromEntries(ids)
}

/** The object as its own command shows it, else as its list does. */
async function shown(
  session: Session,
  noun: string,
  { found, target }: { readonly found: Resolved; readonly target: Target },
): Promise<unknown> {
  const operation = showOf(session.manifest(), noun)
  const own = operation?.cli?.args?.at(-1) ?? 'id'
  const input = { ...target.input, [own]: found.id }
  if (!operation?.params.every(({ name }) => name in input)) return found.row ?? { id: found.id }
  const path = Object.fromEntries(operation.params.map(({ name }) => [name, input[name as keyof typeof input]]))
  return (await (await session.caller()).call(operation, path)).value
}
