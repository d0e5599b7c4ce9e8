import { notContent } from '../../sql/contents.ts'

/** Whether rows of this slice keep a Domain from being deleted. */
export const contents = [
  notContent('domains', 'capacity_totals', 'are counts of what it used'),
  notContent('domains', 'capacity_history', 'are samples of what it used'),
]
