import { defineCommand } from '../../argv/command.ts'
import { chosenMembers, CONTEXT_FLAGS, known } from './known.ts'

export const use = defineCommand({
  description:
    'With flags it also changes the context: a default Domain or Project, the authority to trust, protection.',
  args: [{ name: 'name', describe: 'Context; the one in use when absent', required: false, noun: 'contexts' }],
  flags: CONTEXT_FLAGS,
  examples: ['ctl contexts use prod', 'ctl contexts use --project web', 'ctl contexts use prod --protected'],
  async run(session, { args, flags }) {
    const before = await session.contexts.read()
    const chosen = await chosenMembers(session, flags, known(before, args[0] ?? before.current).url)
    const { current } = await session.contexts.update((file) => {
      const name = args[0] ?? file.current
      const stored = { ...known(file, name), ...chosen }
      const previous = name === file.current ? file.previous : file.current
      return { ...file, current: name, previous, contexts: { ...file.contexts, [name ?? '']: stored } }
    })
    session.note(`Using context ${current ?? ''}.`)
  },
})
