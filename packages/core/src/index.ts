/**
 * The stages of Sallyport. Import the modules one by one, as in `@sallyport/core/wire/Digest`.
 *
 * @since 0.1.0
 */
export {}
