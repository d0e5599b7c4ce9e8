import { notContent } from '../../sql/contents.ts'

export const contents = [notContent('domains', 'api_tokens', 'Belong to its principals.')]
