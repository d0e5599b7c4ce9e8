import { notContent } from '../../sql/contents.ts'

export const contents = [notContent('domains', 'local_accounts', 'Belong to its principals.')]
