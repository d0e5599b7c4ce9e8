import { usageError } from '../../errors/cli-error.ts'
import { defineCommand } from '../../argv/command.ts'
import { checkedName, known } from './known.ts'

export const rename = defineCommand({
  args: [
    { name: 'name', describe: 'Context', required: true, noun: 'contexts' },
    { name: 'new-name', describe: 'The new name', required: true },
  ],
  async run(session, { args }) {
    const [from = '', to] = args
    const name = checkedName(to)
    await session.contexts.update((file) => {
      const stored = known(file, from)
      if (Object.hasOwn(file.contexts, name)) throw usageError(`there is a context "${name}" already`)
      const { [from]: _, ...others } = file.contexts
      const renamed = (one: string | undefined): string | undefined => (one === from ? name : one)
      return {
        ...file,
        current: renamed(file.current),
        previous: renamed(file.previous),
        contexts: { ...others, [name]: stored },
      }
    })
    await session.contexts.renameToken(from, name)
    session.note(`Renamed context ${from} to ${name}.`)
  },
})
