import type { Slice } from '../../http/slice.ts'
import { createHomePage } from './home-page.ts'

export interface HomePagePorts {
  /** Whether the bundled identity provider runs, so that a visitor may have a local account. */
  readonly hasBundledProvider: boolean
  /** How the command line is typed, e.g. `npx ctl`. */
  readonly command: string
}

/** The page at `/`. */
export function createSlice({ hasBundledProvider, command }: HomePagePorts): Slice {
  return { handlers: {}, pages: [createHomePage({ hasLocalAccounts: hasBundledProvider, command })] }
}
