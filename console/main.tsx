import { render } from 'preact'
import './style/style.css'
import { App } from './app.tsx'
import { startRouting } from './router.ts'

startRouting()
render(<App />, document.getElementById('console')!)
