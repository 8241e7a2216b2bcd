import './style/style.css'
import { render } from 'preact'
import { App } from './app.tsx'
import { startRouting } from './router.ts'

startRouting()
render(<App />, document.getElementById('console')!)
