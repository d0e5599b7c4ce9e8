import { notContent } from '../../sql/contents.ts'

/** Whether rows of this slice keep a Domain from being deleted. */
export const contents = [notContent('domains', 'webhooks', 'a webhook is about its Domain, and goes with it')]
