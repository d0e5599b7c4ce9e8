import { usageError } from '../../errors/cli-error.ts'
import { defineCommand } from '../../argv/command.ts'
import { checkedName, chosenMembers, CONTEXT_FLAGS } from './known.ts'

export const add = defineCommand({
  args: [{ name: 'name', describe: 'Name of the context', required: true }],
  flags: {
    url: { kind: 'text', value: 'URL', required: true, describe: 'Server, e.g. https://mesh.example.com' },
    ...CONTEXT_FLAGS,
  },
  examples: [
    'ctl contexts add prod --url https://mesh.example.com --protected',
    'ctl contexts add lab --url http://127.0.0.1:7443 --project web',
  ],
  async run(session, { args, flags }) {
    const name = checkedName(args[0])
    const { url } = flags
    if (url === undefined) throw usageError('--url is missing', 'Add --url https://…')
    if (!/^(https?|unix):./.test(url)) throw usageError(`${url} is not an http:, https: or unix: URL`)
    const { current } = await session.contexts.update((file) => {
      if (Object.hasOwn(file.contexts, name))
        throw usageError(
          `there is a context "${name}" already`,
          `Change it with: ctl contexts use ${name} …, or remove it first`,
        )
      const stored = { url: url.replace(/(?<!\/)\/+$/, ''), token_store: 'file' as const, ...chosenMembers(flags) }
      return { ...file, current: file.current ?? name, contexts: { ...file.contexts, [name]: stored } }
    })
    session.note(
      `Added context ${name}${current === name ? ', which is in use now' : `; use it with: ctl contexts use ${name}`}.`,
    )
    session.note(`Sign in with: ctl login --context ${name}`)
  },
})
