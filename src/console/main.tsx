import { render } from 'preact'
import { App } from './view/app.tsx'

const root = document.getElementById('console')
if (root !== null) {
  root.replaceChildren()
  render(<App />, root)
}
