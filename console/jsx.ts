/** What the elements of `.tsx` files become: calls of `h` take the fewest octets. */
export { Fragment, h } from 'preact'
