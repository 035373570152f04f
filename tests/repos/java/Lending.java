package org.example.library;

/** Who lends. */
public interface Lending {
    Loan lend(Book book, Reader reader) throws LendingException;

    default boolean isOpen(int hour) {
        return hour > 8 && hour < 18;
    }
}

@interface Audited {
    String by() default "nobody";
}
