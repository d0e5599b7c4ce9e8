import { isNonZeroUuid } from '../../../shared/ids.ts'
import { CliError, usageError } from '../../errors/cli-error.ts'
import { EXIT } from '../../errors/exit-code.ts'
import { memberOf } from '../../output/members.ts'
import { isPiece } from '../../session/pick.ts'
import { createResolver } from '../../session/references.ts'
import { labelOf } from '../../session/row-labels.ts'
import type { Session } from '../../session/session.ts'

/** Violations that are read for the artifact of a piece of an id: ten calls. */
const ROWS_MAX = 2_000

/** The whole id of an artifact of which the beginning or end is typed, from the violations that name it. */
export async function wholeArtifactId(session: Session, text: string): Promise<string> {
  if (isNonZeroUuid(text)) return text
  const found = await artifactsOf(session, text)
  const [id, ...others] = found.keys()
  if (id === undefined)
    throw new CliError(`there is no violation of an artifact "${text}", or you may not see it`, {
      exitCode: EXIT.notFound,
      code: 'reference_not_found',
      hints: ['See the ids of artifacts: ctl violations list -o wide'],
    })
  if (others.length === 0) return id
  const candidates = [...found].map(([one, artifact]) => `  ${one}  ${artifact}`)
  throw new CliError(`"${text}" fits ${found.size} artifacts; give a whole id`, {
    exitCode: EXIT.usage,
    code: 'ambiguous_reference',
    hints: candidates.slice(0, 10),
  })
}

async function artifactsOf(session: Session, text: string): Promise<ReadonlyMap<string, string>> {
  const resolver = createResolver(session)
  const domain = await resolver.chosen('domains', {})
  const found = new Map<string, string>()
  let rows = 0
  await resolver.visit('violations', domain === undefined ? {} : { domains: domain.id }, (row) => {
    rows += 1
    if (rows > ROWS_MAX) throw usageError('there are too many violations to search; give the whole id of the artifact')
    const id = memberOf(row, 'artifact_id')
    if (typeof id === 'string' && isPiece(text, id)) found.set(id, labelOf('violations', row) ?? '')
    return true
  })
  return found
}
