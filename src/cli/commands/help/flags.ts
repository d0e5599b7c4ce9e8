import { defineCommand } from '../../argv/command.ts'
import { EVERYWHERE, SHARED, type FlagSpecs } from '../../argv/flags.ts'
import { flagEntry } from '../../help/help.ts'
import { joined, section } from '../../help/layout.ts'

const TITLES: readonly { readonly title: string; readonly specs: FlagSpecs }[] = [
  { title: 'Everywhere', specs: EVERYWHERE },
  { title: 'Connection', specs: { ...SHARED.connection, ...SHARED.curl } },
  { title: 'Output', specs: SHARED.output },
  { title: 'Lists', specs: { ...SHARED.list, ...SHARED.watch } },
  { title: 'Changes', specs: SHARED.confirm },
]

export const flags = defineCommand({
  async run({ io, style }) {
    const layout = { style, columns: io.stdout.columns }
    io.stdout.write(
      joined(TITLES.map(({ title, specs }) => section(title, Object.entries(specs).map(flagEntry), layout))),
    )
  },
})
