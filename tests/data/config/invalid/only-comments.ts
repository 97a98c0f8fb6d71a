// nothing here
/* yet */
