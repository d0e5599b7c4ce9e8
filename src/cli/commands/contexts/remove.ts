import { defineCommand } from '../../argv/command.ts'
import { usageError } from '../../errors/cli-error.ts'
import type { ContextFile } from '../../session/contexts.ts'
import { known } from './known.ts'

export const remove = defineCommand({
  args: [{ name: 'name', describe: 'Contexts', required: true, many: true, noun: 'contexts' }],
  async run(session, { args }) {
    if (args.length === 0) throw usageError('<name> is missing', 'See which there are: ctl contexts list')
    const file = await session.contexts.read()
    for (const name of args) known(file, name)
    for (const name of args) await session.contexts.keepToken(name, undefined)
    await session.contexts.update((now) => args.reduce(without, now))
    session.note(`Removed ${args.join(', ')} with its credentials; tokens stay valid until they expire or are revoked.`)
  },
})

function without(file: ContextFile, name: string): ContextFile {
  const { [name]: _, ...contexts } = file.contexts
  return {
    ...file,
    current: file.current === name ? undefined : file.current,
    previous: file.previous === name ? undefined : file.previous,
    contexts,
  }
}
