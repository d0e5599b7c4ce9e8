import { content } from '../../sql/contents.ts'

export const contents = [content('domains', 'principals')]
