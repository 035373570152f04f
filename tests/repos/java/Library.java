package org.example.library;

import java.util.ArrayList;
import java.util.List;

/**
 * A library with its books.
 */
public class Library implements Lending {
    private static final int LIMIT = 5;
    private final List<Book> books = new ArrayList<>();

    public Library(List<Book> books) {
        this.books.addAll(books);
    }

    /** Lend a book to a reader. */
    @Override
    public Loan lend(Book book, Reader reader) throws LendingException {
        if (reader.count() >= LIMIT) {
            throw new LendingException("too many");
        }
        return Loan.of(book, reader);
    }

    // Used by the tests.
    @Deprecated
    @SuppressWarnings("unused")
    void clear() {
        books.clear();
    }

    enum Genre {
        NOVEL,
        POEM;

        boolean isLong() {
            return this == NOVEL;
        }
    }

    record Place(int floor, String shelf) {
        Place {
            if (floor < 0) {
                throw new IllegalArgumentException();
            }
        }
    }
}
