/** Styles, which the bundler takes out of the program. */
declare module '*.css'
