import { usageError } from '../../errors/cli-error.ts'
import { defineCommand } from '../../argv/command.ts'
import { known } from './known.ts'

export const previous = defineCommand({
  async run(session) {
    const { current } = await session.contexts.update((file) => {
      if (file.previous === undefined)
        throw usageError('no other context was used before', 'See which there are: ctl contexts list')
      known(file, file.previous)
      return { ...file, current: file.previous, previous: file.current }
    })
    session.note(`Using context ${current ?? ''}.`)
  },
})
