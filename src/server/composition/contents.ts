import type { ChildTable } from '../sql/contents.ts'
import type { SliceModule } from './slice-module.ts'
import { SLICES } from './slices.ts'

const modules: readonly SliceModule[] = SLICES

/** What Domains and Projects contain, and which child tables are not contents. */
export const CONTENTS: readonly ChildTable[] = modules.flatMap(({ contents = [] }) => contents)
