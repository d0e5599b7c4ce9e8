import { CliError, usageError } from '../errors/cli-error.ts'
import { EXIT } from '../errors/exit-code.ts'
import type { Choice } from '../output/io.ts'
import { idOf } from '../output/members.ts'
import { labelOf } from '../session/row-labels.ts'
import type { Filling } from './filling.ts'
import type { Member } from './members.ts'
import { describeOf } from './specs.ts'

/** Asks for a value that is needed. Throws a usage error that names what is missing when nobody can be asked. */
export async function askFor(filling: Filling, member: Member): Promise<string> {
  const { session } = filling
  if (!session.canAsk) throw missing(filling, member)
  const question = member.position === undefined ? `${describeOf(member)} (--${member.word})` : describeOf(member)
  const prompter = await session.io.prompter()
  const choices = await choicesFor(filling, member)
  const answer = await (choices.length > 0 ? prompter.choose(question, choices) : prompter.input(question))
  if (answer === undefined) throw new CliError('nothing was done', { exitCode: EXIT.interrupted, code: 'interrupted' })
  return answer
}

/** The values of an enum, or the objects of a noun; nothing where only typing helps. */
async function choicesFor({ session, resolver, scope }: Filling, { field, noun }: Member): Promise<readonly Choice[]> {
  if (field.enum) return field.enum.map(String).map((value) => ({ value, name: value }))
  if (noun === undefined || noun === 'subjects' || noun === 'objects') return []
  const rows = await resolver.list(noun, scope)
  return rows.flatMap((row) => {
    const id = idOf(row)
    if (id === undefined) return []
    const name = labelOf(noun, row, session.io.nowMs())
    return [{ value: id, name: name === undefined ? id : `${name} (${id})` }]
  })
}

function missing({ operation }: Filling, { word, position, noun }: Member): CliError {
  const help = `See: ctl ${operation.cli?.command ?? ''} --help`
  if (position !== undefined) return usageError(`<${word}> is missing`, help)
  return usageError(
    `--${word} is missing`,
    noun === 'projects' ? 'Add --project, or set CTL_PROJECT' : `Add --${word}`,
    help,
  )
}
