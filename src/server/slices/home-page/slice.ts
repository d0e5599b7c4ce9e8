import type { Slice } from '../../http/slice.ts'
import { createHomePage } from './home-page.ts'

export interface HomePagePorts {
  /** Whether the bundled identity provider runs, so that a visitor may have a local account. */
  readonly hasBundledProvider: boolean
}

/** The page at `/`. */
export function createSlice({ hasBundledProvider }: HomePagePorts): Slice {
  return { handlers: {}, pages: [createHomePage({ hasLocalAccounts: hasBundledProvider })] }
}
